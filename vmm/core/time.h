/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: one queue of deadlines drives the timers of the RTOSes, Linux's virtual
 * PIT and RTC, and the VMM's own watches. The unit is the tick of the time
 * stamp counter, also between guests.
 */
#pragma once

#include "lib/types.h"

struct deadline {
	struct deadline *next; /* in the queue, if it is set */
	u64 time; /* TIME_NEVER: not set */
	u32 priority; /* of whom it wakes up; 0: nobody's who is in a hurry */
	/* Called once, at time or later. Returns the next time, or
	 * TIME_NEVER; it may set other deadlines, but not this one. */
	u64 (*expire)(struct deadline *deadline);
};

extern u32 time_tsc_khz;

/* Measures the TSC and takes the local APIC's timer, or the PIT without one. */
void time_init(void);
/* Leaves the timer to a guest that has the CPU to itself, and takes it back. */
void time_stop(void);
void time_start(void);
/* Not set at first. */
void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *), u32 priority);
/* Moves it, or with TIME_NEVER takes it back. */
void deadline_set(struct deadline *deadline, u64 time);
/* Nothing else is so late that its upper half is that of TIME_NEVER. */
static inline bool deadline_is_set(const struct deadline *deadline)
{
	return (u32)(deadline->time >> 32) != (u32)(TIME_NEVER >> 32);
}
/* The timer interrupt: expires what is due, two deadlines at most, and programs what is next. */
void time_interrupt(void);
u64 time_microseconds(u64 ticks);
u64 time_milliseconds(u64 ticks);
/* The name of the timer that it is. */
const char *time_hardware(void);
/* The IRQ of the timer, or -1 when it is the local APIC's. */
int time_irq(void);
