/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux guests: what the kinds of them have in common, and the interrupt flag, as the kernel has
 * set it.
 */
#pragma once

#include "guests/x86/x86.h"

/* As struct guest_kind says. */
MUST_CHECK bool linux_create(struct vm *vm);
u32 linux_ring(const struct vm *vm);

/* Not 0 if the guest's kernel has interrupts enabled: the virtual flag on a
 * shared CPU, the real one on a dedicated one. Ring 3 always has. */
static inline u32 linux_interrupt_flag(const struct x86 *x86)
{
	if (x86_cpl(x86->vcpu) == 3)
		return EFLAGS_IF;
	if (x86->dedicated)
		return x86->vcpu->frame->eflags & EFLAGS_IF;
	return x86->vcpu->shared->interrupt_flag & GANDALF_INTERRUPT_FLAG;
}

static inline void linux_set_interrupts(struct x86 *x86, bool enabled)
{
	if (!x86->dedicated)
		x86->vcpu->shared->interrupt_flag = enabled ? GANDALF_INTERRUPT_FLAG : 0;
	else if (enabled)
		x86->vcpu->frame->eflags |= EFLAGS_IF;
	else
		x86->vcpu->frame->eflags &= ~EFLAGS_IF;
}
