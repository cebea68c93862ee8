/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux guests: what both kinds of them have in common, and the interrupt flag as their kernel has
 * set it.
 */
#pragma once

#include "guests/x86/x86.h"
#include "views.h"

/* The functions create and ring of struct guest_kind, for both kinds. */
MUST_CHECK bool linux_create(struct vm *vm);
u32 linux_ring(const struct vm *vm);

/* Returns a value other than 0 if the guest has interrupts enabled: by the virtual flag on a
 * shared CPU, by the real one on a dedicated CPU. In ring 3 they always are. */
static inline u32 linux_interrupt_flag(const struct x86 *x86)
{
	if (views_in_process(x86->vcpu, x86->vcpu->frame))
		return EFLAGS_IF;
	if (x86->dedicated)
		return x86->vcpu->frame->eflags & EFLAGS_IF;
	return x86->vcpu->shared->interrupt_flag & GANDALF_INTERRUPT_FLAG;
}

/* Sets the flag of the guest's kernel, virtual or real. */
static inline void linux_set_interrupts(struct x86 *x86, bool enabled)
{
	if (!x86->dedicated)
		x86->vcpu->shared->interrupt_flag = enabled ? GANDALF_INTERRUPT_FLAG : 0;
	else if (enabled)
		x86->vcpu->frame->eflags |= EFLAGS_IF;
	else
		x86->vcpu->frame->eflags &= ~EFLAGS_IF;
}
