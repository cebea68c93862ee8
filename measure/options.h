/* SPDX-License-Identifier: Apache-2.0 */
/* What the plug-in is to measure, as its options say it (options.c). */
#ifndef GANDALF_MEASURE_OPTIONS_H
#define GANDALF_MEASURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SETS 8

struct options {
	const char *output, *control;
	bool has_begin, has_end;
	uint64_t begin, end, last;
	uint64_t vmm, vmm_size; /* all of ring 0 unless given */
	uint64_t guest, guest_size; /* what of ring 3 is a guest's kernel: nothing unless given */
	uint64_t nanoseconds; /* end after so much virtual time; 0: do not */
	uint64_t rtos; /* code segments of RTOSes have a base from here on, or no limit; 0: no
			* sections */
	uint64_t record; /* windows of so many instructions; 0: none */
	uint64_t period, deviation; /* of the first interval; 0: it has none */
	uint64_t set[SETS]; /* physical; words that are set to 1 at the begin */
	uint64_t ring, ring_size; /* physical; kept as it is at an outlier */
	const char *history; /* where all that the ring was given goes */
	uint64_t rings, entries; /* how many rings that is, and how many entries each has */
	bool stop;
	bool series, between;
	bool cache; /* with the model of cache.c */
	bool time; /* intervals are virtual time */
	bool samples; /* write those of the intervals */
	unsigned intervals, sets;
	unsigned vcpu; /* the CPU that is measured, of several */
	bool has_vcpu;
};

extern struct options options;

/* Reads the plug-in's arguments; fails if they are wrong. Intervals get their addresses, too. */
void options_read(int count, char **arguments);

#endif
