/* SPDX-License-Identifier: Apache-2.0 */
/* The local APIC (SDM vol. 3, chapter 11): its timer, and what a guest may do with it. */
#pragma once

#include "arch/ia32/layout.h"
#include "platform/pc/timer.h"

#define MSR_APIC_BASE 0x1b

extern const struct timer_hardware apic_timer;
/* The lower half of that MSR; 0: the CPU has no APIC, or none whose timer counts. */
extern u32 apic_base;

/* Enables the local APIC, passes the 8259s' interrupts through, measures the
 * timer against the TSC, which ticks so often in a millisecond. false if the CPU has none. */
MUST_CHECK bool apic_init(u32 tsc_khz);

/* Enables the local APIC of another CPU than the one that has booted, to which the 8259s'
 * interrupts go. */
void apic_join(void);
/* By which the CPU that runs this is addressed. */
u32 apic_own_id(void);
/* Interrupts another CPU. Interrupts are masked: the address and the command are two stores. */
void apic_interrupt(u32 id, u32 vector);
/* Has another CPU begin in real mode at a page below 1 MiB; takes some 10 ms. */
void apic_start_cpu(u32 id, u32 page);

/* The vector that the processor was interrupted with last and that has not been ended; 0: none. */
u32 apic_in_service(void);
/* A guest's store to a register, unless it would let the APIC do what a guest must not. Returns
 * whether the 8259s' interrupts are kept out now. */
bool apic_write_for_guest(u32 offset, u32 value);

/* The processor priority: rises with each interrupt that the APIC gives the processor. */
static inline u32 apic_priority(void)
{
	return apic_base == 0 ? 0 : *(volatile u32 *)(LAYOUT_APIC + 0xa0);
}

/* EOI: the register takes any value. */
static inline void apic_end_of_interrupt(void)
{
	*(volatile u32 *)(LAYOUT_APIC + 0xb0) = 0;
}
