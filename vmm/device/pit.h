/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 8254 interval timer of one guest (Intel 8254 data sheet), with port 0x61, which has
 * the gate and the output of counter 2. Time is the time stamp counter. Nothing runs between two
 * calls: each call works out what the chip would show at the time that it is given. Output edges
 * are computed from the time at which a counter was started, so they do not drift.
 *
 * Of the chip's modes it has those that PC systems use: 0, 2, 3 and 4, in binary. There is no
 * read-back command. A new count takes effect at once, so edges come one or two clocks (838 ns)
 * earlier than on the chip. An edge that a control word itself causes is not counted.
 */
#pragma once

#include "lib/types.h"

#define PIT_COUNTERS 3

struct pit_counter {
	u64 start;        /* time at which the count was loaded */
	u64 clocks;       /* clocks since start, at the last look; a low gate stops them */
	u64 edges_taken;  /* for counter 0: edges since start that pit_expire() has reported */
	u32 count;        /* the count that was loaded, 1 to 65536 */
	u16 written;      /* the bytes of a new count that have been written so far */
	u16 latch;        /* the latched value, if latched */
	bool latched;     /* reads give latch */
	u8 mode;          /* 0, 2, 3 or 4 */
	u8 access;        /* 1: low byte, 2: high byte, 3: both */
	bool read_high, write_high; /* the next read, or write, is of the high byte */
	bool loaded;      /* a count has been written since the control word */
	bool gate;        /* the level of the gate; true: the counter counts */
};

struct pit {
	struct pit_counter counter[PIT_COUNTERS];
	bool edge_kept;   /* counter 0 had an edge before start that is not reported yet */
	u32 tsc_khz;      /* frequency of the time stamp counter */
	u8 port_61;       /* bits 0 to 3 as written: gate of counter 2, speaker, and two more */
};

/* Resets the chip. tsc_khz is 2,000 to 8,000,000. now is the time stamp counter, here and below. */
void pit_reset(struct pit *pit, u32 tsc_khz, u64 now);

/* Read and write ports 0x40 to 0x43 and 0x61. Other ports read as 0xff and ignore writes. */
u8 pit_read(struct pit *pit, u16 port, u64 now);
void pit_write(struct pit *pit, u16 port, u8 value, u64 now);

/*
 * Returns the time of the first rising edge of output 0 that pit_expire() has not reported, or
 * TIME_NEVER if there is none. The time may be past; it is 0 for an edge from before the counter
 * was loaded anew. It can change with each pit_write() and pit_expire().
 */
u64 pit_deadline(const struct pit *pit);

/* Returns whether output 0 has risen at least once since the last call, and so reports it. */
bool pit_expire(struct pit *pit, u64 now);
