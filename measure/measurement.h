/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is measured from a begin to an end: instructions by ring and mask, windows in which no
 * interrupt can be taken, transitions between rings, deliveries and events; intervals are in
 * interval.h.
 *
 * Time is instructions. One counts when it is begun: one that faults counts, and counts again when
 * it is repeated; each repetition of a string instruction counts, and so does the look at ECX that
 * ends them. QEMU's own count, which is the guest's time, leaves out most faulting ones.
 */
#ifndef GANDALF_MEASURE_MEASUREMENT_H
#define GANDALF_MEASURE_MEASUREMENT_H

#include "cpu.h"
#include "decode.h"
#include "interval.h"

#define RINGS 4
#define LONGEST 32
#define LENGTHS 40
#define HANDLERS 1024
#define BLOCKS 65536
#define SHOWN_BLOCKS 64
#define PROFILE 16384
#define RECORDED (1u << 20)
#define SECTIONS 256

/* A state is a ring and these; of the last two one at most. */
#define STATE_MASKED 0x4u
#define STATE_VMM 0x8u
#define STATE_GUEST 0x10u
#define STATES 32

struct block {
	uint64_t linear;
	uint64_t instructions;
};

/* A stretch in which no interrupt can be taken. end: where it can again, or what the VMM left to.
 * last: the last block in it. at: since the begin. */
struct window {
	uint64_t instructions, at;
	uint64_t begin, end, last;
	unsigned blocks;
	struct block block[SHOWN_BLOCKS];
};

/* A window that was long enough to be recorded. clock: QEMU's virtual time, which the time stamp
 * counter shows, when it began. */
struct recorded {
	uint64_t clock, instructions;
	uint64_t begin, end;
};

/* The delivery by which a window began. what: NONE if none did. rtos: who was interrupted is
 * one. */
struct arrival {
	enum delivery what;
	uint32_t ring;
	bool rtos;
};

/* headless: it was open already when the measurement began. */
struct windows {
	bool open, headless;
	struct arrival arrival;
	uint64_t since, since_clock;
	uint64_t begin;
	uint64_t count, total, cut;
	uint64_t lengths[LENGTHS]; /* [n]: of 2^(n-1) to 2^n - 1 instructions */
	unsigned kept;
	struct window longest[LONGEST];
};

/* All windows of the VMM with the same beginning. window: the longest. */
struct section {
	uint64_t begin;
	struct arrival arrival;
	uint64_t count, total;
	struct window window;
};

/* Where interrupts, exceptions and system calls lead to; stays: in ring 0 that began so.
 * from_guest: how many of the entries into ring 0 came from the guest's kernel. */
struct handler {
	uint64_t linear;
	uint32_t ring;
	uint64_t exceptions, hardware, from[RINGS];
	uint64_t from_guest;
	uint64_t stays, instructions, longest, masked;
	struct window window; /* of the VMM's that began here the longest */
};

enum progress {
	PROGRESS_IDLE,
	PROGRESS_ARMED, /* waits for the address where it begins */
	PROGRESS_ON,
	PROGRESS_ENDED,
};

struct measurement {
	enum progress progress;
	unsigned state;
	uint64_t since; /* when the state was entered */
	uint64_t begun, ended;
	uint64_t executed[STATES];
	uint64_t crossings[RINGS][RINGS];
	struct windows all, vmm;
	unsigned section_count;
	struct section sections[SECTIONS];
	uint64_t sections_lost; /* windows of further ones */
	uint64_t recorded_since; /* QEMU's virtual time at the begin */
	uint64_t recorded_count; /* of which the last RECORDED are kept */
	uint64_t outlier_count; /* of which the first OUTLIERS are kept */
	struct outlier outliers[OUTLIERS];
	struct outlier longest; /* of the first interval, whether it is too long or not */
	struct handler handlers[HANDLERS];
	struct block profile[PROFILE]; /* of the VMM, masked or not */
	struct block *running; /* the block of it that is executed, and since when */
	uint64_t running_since;
	struct handler *stay; /* the stay in ring 0 now, since when, masked */
	uint64_t stay_since, stay_masked;
	uint64_t events[RINGS][EVENT_COUNT];
	int64_t clock_begun, clock_ended; /* ns, at the first and last delivery */
	uint64_t mistaken; /* blocks not where they were translated for: must be 0 */
};

extern struct measurement measurement;
/* The windows that were recorded, by their number modulo RECORDED. */
extern struct recorded recorded[RECORDED];

/* Added to by the translated code: all that was begun, whether measured or not. */
extern uint64_t instructions;
extern uint64_t events[RINGS][EVENT_COUNT];

/* Makes what the options need: room and files. Returns what is wrong, or a null pointer. */
const char *measurement_prepare(void);
void measurement_begin(uint64_t linear);
void measurement_end(uint64_t linear);
/* Looks at the CPU. linear: of the next instruction. Call where its state may have changed. */
void measurement_sample(uint64_t linear);
/* A delivery is about to come (NONE) or has come. */
void measurement_deliver(enum delivery what, uint32_t from_ring);

#endif
