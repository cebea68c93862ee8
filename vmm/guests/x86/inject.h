/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts and exceptions into a Linux guest, through its own IDT. */
#pragma once

#include "guests/x86/pc.h"

/* Puts the stack that the guest's TSS has for its kernel into the real one. */
void inject_reload_stack(struct pc *pc);

/* No error code has all its bits set. */
#define INJECT_NO_ERROR (~0u)
/* The frame that the CPU would have built, on the guest's stack; the guest goes on at its
 * handler. An IDT or a stack that cannot be used stops the guest: then false, and its frame is
 * as it was. */
MUST_CHECK bool inject(struct pc *pc, unsigned vector, u32 error);
/* The last thing that is done for an entry of the guest: its return looks whether it still runs. */
static inline void inject_last(struct pc *pc, unsigned vector, u32 error)
{
	if (!inject(pc, vector, error))
		return;
}
/* A page fault, likewise: CR2 as well. */
static inline void inject_page_fault(struct pc *pc, u32 linear, u32 error)
{
	vcpu_count(pc->vcpu, COUNTER_guest_page_faults);
	pc->vcpu->shared->cr2 = linear;
	inject_last(pc, EXCEPTION_PF, error);
}
/* A #GP with this error code, likewise. */
void inject_general_protection(struct pc *pc, u32 error);
