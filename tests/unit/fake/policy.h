/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of a Linux that shares its CPU and of one that has it to itself, without their
 * operations. test_linux.c compares them with those of the VMM.
 */
#pragma once

#include "guests/x86/x86.h"

static const struct policy fake_shared __attribute__((unused)) = {
	.eflags = EFLAGS_FIXED | EFLAGS_IF, .code_mask = ~3u,
	.first_gate = 0x80, .last_gate = 0x80, .gate_type = GATE_TRAP, .interruptible = true,
};

static const struct policy fake_dedicated __attribute__((unused)) = {
	.eflags = EFLAGS_FIXED | EFLAGS_IOPL_1, .code_mask = ~0u,
	.first_gate = EXCEPTIONS, .last_gate = VECTOR_APIC_IPI - 1, .any_vector = true,
};

/* Makes the guest of a vCPU one of the two, as it is when it starts. In tests of what looks at no
 * frame there is none. */
static inline void policy_set(struct x86 *x86, const struct policy *policy)
{
	struct frame *frame = x86->vcpu->frame;

	x86->policy = policy;
	x86->code_mask = ~3u;
	x86->vcpu->eflags = policy->eflags;
	x86->flag = policy->interruptible ? &x86->vcpu->shared->interrupt_flag
					  : frame != NULL ? &frame->eflags : NULL;
}
