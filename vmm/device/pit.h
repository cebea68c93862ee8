/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 8254 interval timer of one guest, with port 0x61 (gate and output
 * of counter 2). Time is the time stamp counter: nothing runs in between, each
 * call works out what the chip would show at the time it is given. Output edges
 * are computed from the moment a counter was started, so they do not drift.
 *
 * Of the chip's modes it has those that PC systems use, 0, 2, 3 and 4, in binary;
 * there is no read-back command. Loading a count takes no clock here, and takes
 * effect at once: edges come a period of 838 ns, or two, earlier than on the chip.
 * An edge that a control word itself causes is not counted.
 */
#pragma once

#include "lib/types.h"

#define PIT_COUNTERS 3

struct pit_counter {
	u64 start;        /* time at which the count was loaded */
	u64 clocks;       /* since start, when last looked at; stopped by the gate */
	u64 edges_taken;  /* counter 0: since start, already reported */
	u32 count;        /* as loaded: 1..65536 */
	u16 written;      /* the bytes of the count as far as they came */
	u16 latch;
	bool latched;     /* reads give latch */
	u8 mode;          /* 0, 2, 3, 4 */
	u8 access;        /* 1: low byte, 2: high byte, 3: both */
	bool read_high, write_high; /* the next read, or write, is the high byte */
	bool loaded;      /* a count has been written since the control word */
	bool gate;
};

struct pit {
	struct pit_counter counter[PIT_COUNTERS];
	bool edge_kept;   /* of counter 0, from before start, not yet reported */
	u32 tsc_khz;
	u8 port_61;       /* bits 0 (gate of counter 2) and 1 (speaker) */
};

/* tsc_khz: 2,000..8,000,000. now: the time stamp counter, here and below. */
void pit_reset(struct pit *pit, u32 tsc_khz, u64 now);

/* Ports 0x40 to 0x43 and 0x61; others read 0xff. */
u8 pit_read(struct pit *pit, u16 port, u64 now);
void pit_write(struct pit *pit, u16 port, u8 value, u64 now);

/*
 * The time of the first rising edge of output 0 that pit_expire() has not
 * reported, which may be past (0 if it came before the counter was loaded
 * anew); TIME_NEVER if there is none. To be asked again after each pit_write()
 * and pit_expire().
 */
u64 pit_deadline(const struct pit *pit);

/* Whether output 0 has risen up to now, once or more, since it was last reported. */
bool pit_expire(struct pit *pit, u64 now);
