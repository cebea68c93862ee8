/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux guests: what both kinds of them have in common, and the interrupt flag as their kernel has
 * set it.
 */
#pragma once

#include "guests/x86/x86.h"
#include "views.h"

/* Makes what a guest needs beyond its vCPU. Returns false if the pool is too small. */
MUST_CHECK bool linux_create(struct vm *vm, const struct policy *policy);
/* The function create of struct guest_kind for a Linux that shares its CPU. */
MUST_CHECK bool shared_create(struct vm *vm);
/* The function ring of struct guest_kind, for all kinds. */
u32 linux_ring(const struct vm *vm);

/* Operations of struct vcpu_operations, for all kinds. */
void linux_page_fault(struct vcpu *vcpu, struct frame *frame);
void linux_trap(struct vcpu *vcpu, struct frame *frame);
void linux_deliver(struct vcpu *vcpu); /* not where interrupts come straight to it */
void linux_start(struct vcpu *vcpu);
void linux_stop(struct vcpu *vcpu);
u32 linux_instruction(struct vcpu *vcpu, u8 *bytes, u32 size);

_Static_assert(GANDALF_INTERRUPT_FLAG == EFLAGS_IF, "both flags are the same bit");

/* Returns EFLAGS_IF if the guest has interrupts enabled, and 0 if not. In ring 3 they always
 * are. */
static inline u32 linux_interrupt_flag(const struct x86 *x86)
{
	if (views_in_process(x86->vcpu, x86->vcpu->frame))
		return EFLAGS_IF;
	return *x86->flag & EFLAGS_IF;
}

/* Sets the flag of the guest's kernel, virtual or real. */
static inline void linux_set_interrupts(struct x86 *x86, bool enabled)
{
	if (enabled)
		*x86->flag |= EFLAGS_IF;
	else
		*x86->flag &= ~EFLAGS_IF;
}

/* Halts the vCPU until an interrupt comes, unless one waits already, or board_settle() has just
 * ended the guest. Interrupts are masked. */
static inline void linux_sleep(struct x86 *x86)
{
	if (!x86->interrupt_waits && x86->vcpu->state == VCPU_RUNNING)
		vcpu_halt(x86->vcpu);
}
