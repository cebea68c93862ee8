/* SPDX-License-Identifier: Apache-2.0 */
/* The local APIC's timer (SDM vol. 3, chapter 11). */
#pragma once

#include "core/layout.h"
#include "core/time.h"

extern const struct timer_hardware apic_timer;

/* Enables the local APIC, passes the 8259s' interrupts through, measures the
 * timer. false if the CPU has none. */
bool apic_init(void);

/* EOI: the register takes any value. */
static inline void apic_end_of_interrupt(void)
{
	*(volatile u32 *)(LAYOUT_APIC + 0xb0) = 0;
}
