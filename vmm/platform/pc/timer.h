/* SPDX-License-Identifier: Apache-2.0 */
/* What the timers of a PC have in common, of which the VMM takes one as its clock. */
#pragma once

#include "lib/types.h"

struct timer_hardware {
	const char *name;
	int irq; /* at the 8259s; -1: it has a vector of its own, VECTOR_APIC_TIMER */
	/* Makes it interrupt as programmed, and stops it. */
	void (*start)(void);
	void (*stop)(void);
	/* Interrupts once, when the ticks (TSC) since then will be 0, or at once if they are not
	 * negative, or earlier if it cannot wait that long. */
	void (*program)(u32 low, s32 high);
};
