/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x87 and SSE state, switched lazily: CR0.TS is set while the FPU holds another
 * vCPU's state, and the #NM of the first use loads the right one. That of a vCPU that arrives from
 * another core is loaded at once.
 */
#pragma once

#include "core/core.h"

/* Finds out what the CPU has, and returns the bits of CR4 that enable it. features: EDX of CPUID's
 * leaf 1. */
u32 fpu_init(u32 features);
/* Sets the vCPU's state to that after FNINIT, before its guest starts. The FPU does not hold its
 * state, since processor_stop() or fpu_leave() or from the beginning. */
void fpu_reset(struct vcpu *vcpu);
/* Returns whether the FPU holds another vCPU's state, so that this one needs CR0.TS. */
static inline bool fpu_is_foreign(const struct vcpu *vcpu)
{
	return core.fpu_owner != vcpu;
}
/* Recomputes the vCPU's real CR0. It must be called when the FPU's owner or cr0_guest has
 * changed. */
void fpu_show(struct vcpu *vcpu);
/* Saves the vCPU's state, if the FPU has it, which then has nobody's. Interrupts are masked. */
void fpu_leave(struct vcpu *vcpu);
/* Brings the state that a vCPU has left on another core, which arrives here, into the FPU, and
 * saves that of its owner. That costs less than to copy it and to load it when it is used first,
 * which is soon: Linux loads floating-point registers whenever a process goes on. Interrupts are
 * masked. */
void fpu_arrive(struct vcpu *vcpu, const u8 *image);
/* Brings the vCPU's state into the FPU, and saves that of its owner. Interrupts are masked. */
void fpu_take(struct vcpu *vcpu);
