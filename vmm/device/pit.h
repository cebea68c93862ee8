/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 8254 interval timer of one guest, with port 0x61 (gate and output
 * of counter 2). Time is the time stamp counter: nothing runs in between, each
 * call works out what the chip would show at the time it is given. Output edges
 * are computed from the moment a counter was started, so they do not drift.
 *
 * Loading a count takes no clock here, one on the chip: edges come one period
 * of 838 ns earlier. An edge that a control word itself causes is not counted.
 */
#ifndef GANDALF_PIT_H
#define GANDALF_PIT_H

#include "lib/types.h"

#define PIT_COUNTERS 3

struct pit_counter {
	u64 start;        /* time at which the count was loaded */
	u64 clocks;       /* since start, when last looked at; stopped by the gate */
	u32 count;        /* as loaded: 1..65536, BCD: 1..10000 */
	u32 next_count;   /* modes 2, 3: takes over at switch_clock; 0: none */
	u64 switch_clock; /* in clocks since start */
	u64 edges_taken;  /* counter 0: since start, already reported */
	u32 edges_kept;   /* counter 0: before start, not yet reported */
	u16 latch;
	bool latched;     /* reads give latch */
	u8 status;        /* latched by a read-back command */
	bool status_latched;
	u8 mode;          /* 0..5 */
	u8 access;        /* 1: low byte, 2: high byte, 3: both */
	bool bcd;
	bool read_high;   /* access 3: the next read gives the high byte */
	bool write_high;  /* access 3: the next write is the high byte */
	u8 write_low;
	bool loaded;      /* a count has been written since the control word */
	bool triggered;   /* modes 1, 5: the gate has risen since */
	bool gate;
};

struct pit {
	struct pit_counter counter[PIT_COUNTERS];
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

/* The rising edges of output 0 up to now that have not been reported yet. */
unsigned pit_expire(struct pit *pit, u64 now);

#endif
