/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. One queue of deadlines drives the timers of the RTOSes, Linux's virtual PIT and RTC, and
 * the VMM's own watches. All times are in ticks of the time stamp counter, which runs on
 * whichever guest has the CPU.
 */
#pragma once

#include "lib/types.h"

struct deadline {
	struct deadline *next; /* the next one in the queue, if this one is set */
	u64 time; /* when it is due; TIME_NEVER: it is not set */
	u32 priority; /* that of the RTOS that it wakes up; 0: it is not urgent */
	/* Is called once, at that time or later, with interrupts masked. Returns the next time, or
	 * TIME_NEVER. It may set other deadlines, but not this one. */
	u64 (*expire)(struct deadline *deadline);
};

/* The frequency of the time stamp counter in kHz, which is also its ticks in a millisecond, as it
 * was measured at the start (rate.h has it more exactly). */
extern u32 time_tsc_khz;

/* Measures that frequency, and starts the timer that the machine has. */
void time_init(void);
/* Leave the timer to a guest that has the CPU to itself, and take it back. */
void time_stop(void);
void time_start(void);
/* Prepares a deadline, which is not set at first. */
void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *), u32 priority);
/* Sets a deadline or moves it; TIME_NEVER takes it back. Interrupts must be masked. */
void deadline_set(struct deadline *deadline, u64 time);
/* Returns whether a deadline is set. It compares upper halves only, which is enough: no time that
 * occurs has that of TIME_NEVER. */
static inline bool deadline_is_set(const struct deadline *deadline)
{
	return (u32)(deadline->time >> 32) != (u32)(TIME_NEVER >> 32);
}
/* Returns whether one is over that has not expired: it may be the timer of an RTOS. */
bool deadline_waits(void);
/* Serves the timer interrupt: expires at most two deadlines that are due, and programs the timer
 * for the next one. */
void time_interrupt(void);
/* Convert ticks, rounded down. */
u64 time_microseconds(u64 ticks);
u64 time_milliseconds(u64 ticks);
/* Returns the name of the timer that is used. */
const char *time_hardware(void);
/* Returns the IRQ of the timer, or -1 if it has a vector of its own. */
int time_irq(void);
