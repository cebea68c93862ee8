/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x87 and SSE state, switched lazily: CR0.TS is set while the FPU holds another
 * vCPU's state, and the #NM of the first use loads the right one.
 */
#pragma once

#include "core/core.h"

/* Finds out what the CPU has and enables it in CR4. */
void fpu_init(void);
/* The state after FNINIT, for a guest that starts. */
void fpu_reset(struct vcpu *vcpu);
/* Whether the vCPU needs CR0.TS on its next entry. */
static inline bool fpu_is_foreign(const struct vcpu *vcpu)
{
	return core.fpu_owner != vcpu;
}
/* Sets its CR0 after that, or after cr0_guest. */
void fpu_show(struct vcpu *vcpu);
/* Brings the vCPU's state into the FPU. */
void fpu_take(struct vcpu *vcpu);
