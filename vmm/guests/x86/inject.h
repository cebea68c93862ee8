/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts and exceptions into a Linux guest, through its own IDT. */
#pragma once

#include "guests/x86/x86.h"

/* Puts the stack that the guest's TSS has for its kernel into the real one. */
void inject_reload_stack(struct x86 *x86);

/* No error code has all its bits set. */
#define INJECT_NO_ERROR (~0u)
/* The frame that the CPU would have built, on the guest's stack; the guest goes on at its
 * handler. An IDT or a stack that cannot be used stops the guest: then false, and its frame is
 * as it was. */
MUST_CHECK bool inject(struct x86 *x86, unsigned vector, u32 error);
/* The last thing that is done for an entry of the guest: its return looks whether it still runs. */
static inline void inject_last(struct x86 *x86, unsigned vector, u32 error)
{
	if (!inject(x86, vector, error))
		return;
}
/* A page fault, likewise: CR2 as well. */
static inline void inject_page_fault(struct x86 *x86, u32 linear, u32 error)
{
	vcpu_count(x86->vcpu, COUNTER_guest_page_faults);
	x86->vcpu->shared->cr2 = linear;
	inject_last(x86, EXCEPTION_PF, error);
}
/* A #GP with this error code, likewise. */
void inject_general_protection(struct x86 *x86, u32 error);
