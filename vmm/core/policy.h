/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done when an RTOS takes a CPU from a vCPU of a guest that moves. The description says it
 * at first, and guests that manage others change it while the system runs.
 */
#pragma once

#include "core/vm.h"

/* Returns which policy the VM's guest has, GANDALF_PREEMPTION_... */
u32 policy_of(const struct vm *vm);
/* Returns whether a policy has vCPUs leave a CPU that an RTOS has. */
static inline bool policy_moves(u32 policy)
{
	return policy >= GANDALF_PREEMPTION_ON_DEMAND && policy <= GANDALF_PREEMPTION_TRAP;
}
/* Returns whether this image has a policy of that number. */
bool policy_is_there(u32 policy);
/* Does GANDALF_ACTION_POLICY: sets the policy if there is such a one, and returns what it is then.
 * Interrupts are masked. */
int policy_act(const struct vm *vm, u32 policy);
