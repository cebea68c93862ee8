/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intervals between two instructions, as long as a measurement is on: how many, how long, and
 * outliers of the first kind, with the guest's memory as it was at their ends.
 */
#ifndef GANDALF_MEASURE_INTERVAL_H
#define GANDALF_MEASURE_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

#define INTERVALS 8
#define SAMPLES (1u << 20)
#define OUTLIERS 64

/* expired: it begins when the local APIC's timer expired that was delivered last before `from`. */
struct interval {
	uint64_t from, to;
	bool expired;
	bool running;
	uint64_t since, count, repeated;
	uint64_t total, minimum, maximum;
	uint32_t *sample; /* the first SAMPLES of them */
};

/* An interval of the first kind that is too long or too short, as virtual time shows it. expiry: of
 * the timer, delivered last before its end. */
struct outlier {
	uint64_t end, length, expiry;
};

extern struct interval intervals[INTERVALS];

/* A measurement begins: none of them has come. */
void intervals_reset(void);
void interval_reach(struct interval *interval, bool end);
/* The memory of options.ring at an outlier, and at the longest interval; null: there is none. */
const uint8_t *outlier_ring(unsigned outlier);
const uint8_t *longest_ring(void);
/* Makes room for them. Returns what is wrong, or a null pointer. */
const char *rings_make(void);

#endif
