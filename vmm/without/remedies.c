/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for core/loan.c, core/pull.c and core/steal.c in an image that has only the policies
 * "none" and "on-demand" (core/policy.h). A vCPU for which the VMM works when it is to leave waits
 * for the RTOS then, and Linux does not learn how long its vCPUs have waited. */
#include "core/core.h"
#include "core/loan.h"
#include "core/policy.h"
#include "core/pull.h"
#include "core/steal.h"
#include "lib/owner.h"

OF_CORE u8 linux_first;

bool policy_is_there(u32 policy)
{
	return policy <= GANDALF_PREEMPTION_ON_DEMAND;
}

void loan_init(void)
{
}

void loan_begin(void)
{
}

void delay_allow(UNUSED bool allowed)
{
}

struct vcpu *linux_holder(struct vcpu *first)
{
	return first;
}

void steal_switches(UNUSED const struct vcpu *from, UNUSED const struct vcpu *to)
{
}

void steal_arrives(UNUSED const struct vcpu *vcpu, UNUSED u32 from)
{
}

void steal_begins(UNUSED const struct vcpu *vcpu)
{
}

u32 pull_idle_cpu(UNUSED u32 cpus)
{
	return core.index;
}

void pull_turn_ends(UNUSED struct vm *vm)
{
}

void pull_spins(UNUSED const struct vm *vm)
{
}
