/* SPDX-License-Identifier: Apache-2.0 */
/* The local APIC (SDM vol. 3, chapter 11). It has the VMM's timer, and a dedicated guest may use
 * it. */
#pragma once

#include "arch/ia32/layout.h"
#include "platform/pc/timer.h"

#define MSR_APIC_BASE 0x1b
/* Offsets of registers: by which bits others reach this CPU, and what switches the APIC on. */
enum { APIC_LOGICAL = 0xd0, APIC_LOGICAL_FORMAT = 0xe0, APIC_SPURIOUS = 0xf0 };

extern const struct timer_hardware apic_timer;
/* The lower half of MSR_APIC_BASE. It is 0 if the CPU has no APIC, or one whose timer does not
 * count. */
extern u32 apic_base;

/* Enables the local APIC, lets the 8259s' interrupts pass through it, and measures its timer
 * against the TSC. Returns false if the CPU has no APIC, or one whose timer does not count. */
MUST_CHECK bool apic_init(void);

/* Enables the local APIC of another CPU than the one that has booted, as that of the core with an
 * index. The 8259s' interrupts do not go there. */
void apic_join(u32 index);
/* Returns the number by which the CPU that runs this is addressed. */
u32 apic_own_id(void);
/* Interrupts another CPU. Interrupts are masked: the address and the command are two stores. */
void apic_interrupt(u32 id, u32 vector);
/* Interrupts several others likewise, by the bits of their cores' indices. */
void apic_interrupt_cores(u32 cores, u32 vector);
/* Has another CPU begin in real mode at a page below 1 MiB. This takes some 10 ms. */
void apic_start_cpu(u32 id, u32 page);
/* Has another CPU wait until that is done once more. */
void apic_stop_cpu(u32 id);

/* Returns the highest vector whose interrupt has been given to the processor and has not been
 * ended, or 0. */
u32 apic_in_service(void);
/* Performs a guest's store to the register at an offset, as far as the guest may do that. Returns
 * whether the 8259s' interrupts are masked at LINT0 now. */
bool apic_write_for_guest(u32 offset, u32 value);

/* Returns whether a vector is that of one of the interrupts by which cores tell each other that
 * there is a message. */
static inline bool apic_vector_is_message(u32 vector)
{
	return vector >= VECTOR_APIC_IPI && vector <= VECTOR_APIC_MESSAGE;
}

/* Returns the processor priority, which rises with each interrupt that the APIC gives the
 * processor. Returns 0 without an APIC. */
static inline u32 apic_priority(void)
{
	return apic_base == 0 ? 0 : *(volatile u32 *)(LAYOUT_APIC + 0xa0);
}

/* Ends the interrupt that was given last. The register takes any value. */
static inline void apic_end_of_interrupt(void)
{
	*(volatile u32 *)(LAYOUT_APIC + 0xb0) = 0;
}
