/* SPDX-License-Identifier: Apache-2.0 */
/* What the timers of a PC have in common. The VMM takes one of them as its clock. */
#pragma once

#include "lib/types.h"

struct timer_hardware {
	const char *name;
	int irq; /* input of the 8259s; -1: it has a vector of its own, VECTOR_APIC_TIMER */
	/* Prepare the timer for program(), and keep it from interrupting. */
	void (*start)(void);
	void (*stop)(void);
	/* Has the timer interrupt once at a certain time. high and low are the halves of the ticks
	 * of the TSC that have passed since that time: negative if it is still to come. If it is
	 * not, the timer interrupts at once. If it cannot wait so long it interrupts earlier. */
	void (*program)(u32 low, s32 high);
};
