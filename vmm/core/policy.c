/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps which policy guests have when an RTOS takes a CPU from one of their vCPUs (policy.h). */
#include "core/policy.h"

#include "core/module.h"
#include "core/part.h"
#include "masked_state.h"

/* The bits of part_page.policy that have it; those above count the changes. */
#define POLICY_BITS 8u

static u32 change_of(u32 word)
{
	return word >> POLICY_BITS;
}

/* Whoever changes the policy says so on its own core, and the latest change is the one that
 * counts. That in the description is before all of them. */
static u32 policy_word(const struct vm *vm)
{
	u32 latest = vm->guest->preemption;

	for (u32 cpu = 0; cpu < system_table.cpus; cpu++) {
		u32 word = part_page_of(cpu)->policy[vm->index];

		if (change_of(word) > change_of(latest))
			latest = word;
	}
	return latest;
}

u32 policy_of(const struct vm *vm)
{
	return policy_word(vm) % (1u << POLICY_BITS);
}

int policy_act(const struct vm *vm, u32 policy)
{
	EXPECTS_MASKED();
	if (!guest_migrates(vm->guest))
		return GANDALF_ERROR_ARGUMENT;
	if (policy_is_there(policy))
		part_page_own()->policy[vm->index] =
			(change_of(policy_word(vm)) + 1) << POLICY_BITS | policy;
	else if (policy != GANDALF_PREEMPTION_ASK)
		return GANDALF_ERROR_ARGUMENT;
	return (int)policy_of(vm);
}
