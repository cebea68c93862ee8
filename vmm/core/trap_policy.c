/* SPDX-License-Identifier: Apache-2.0 */
/* Has the kernel of a Linux run elsewhere than on cores with an RTOS (trap_policy.h). */
#include "core/trap_policy.h"

#include "core/feature.h"
#include "core/migration.h"
#include "core/policy.h"
#include "core/refuge.h"
#include "core/schedule.h"
#include "masked_state.h"

FEATURE(trap_policy, FEATURE_TRAP_POLICY);

/* 1 + the core with an RTOS from which the vCPU is away; 0: it is away from none. */
static u32 away_from(const struct vm *vm)
{
	u32 from = part_page_own()->refugee_of[vm->number];

	return from == core.index + 1 ? 0 : from;
}

static void vcpu_goes(struct vm *vm, u32 to)
{
	vm->leaves_for = to + 1;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	vcpu_notify(vm->vcpus);
}

/* It stays if there is no other core for it. */
static void kernel_leaves(struct vm *vm)
{
	bool taken = false;
	u32 to = refuge_find(vm, GANDALF_PREEMPTION_TRAP, &taken);

	if (to == core.index)
		return;
	part_page_own()->refugee_of[vm->number] = core.index + 1;
	vcpu_goes(vm, to);
}

/* One that is away comes back whatever the policy is by now. */
u32 trap_policy_enters(struct vm *vm)
{
	EXPECTS_MASKED();
	if (away_from(vm) != 0)
		return WATCH_ENTRIES | WATCH_RETURN;
	if (policy_of(vm) != GANDALF_PREEMPTION_TRAP)
		return 0;
	if (refuge_has_rtos(core.index))
		kernel_leaves(vm);
	return WATCH_ENTRIES;
}

/* While an RTOS has the other core, the process goes on here until its next return. */
void trap_policy_returns(struct vm *vm)
{
	u32 from = away_from(vm);

	EXPECTS_MASKED();
	if (from != 0 && part_page_of(from - 1)->of_rtos == 0)
		vcpu_goes(vm, from - 1);
}

/* Has the vCPU watched, if it can be. Returns whether it is in its kernel. */
static bool watch_begins(struct vm *vm)
{
	return (*UNITS_FIRST(kernel_watches))->begin(vm->vcpus);
}

bool trap_policy_brings_back(const struct vm *vm)
{
	return vm->vcpus->watched != 0;
}

void trap_policy_departs(struct vm *vm)
{
	if (watch_begins(vm))
		return;
}

void trap_policy_begins(void)
{
	EXPECTS_MASKED();
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		struct vm *vm = part_vms[i];

		if (vm != NULL && vm_is_seat(vm) && watch_begins(vm) && away_from(vm) == 0)
			kernel_leaves(vm);
	}
}

void trap_policy_arrives(const struct vm *vm)
{
	if (away_from(vm) != 0 && policy_of(vm) == GANDALF_PREEMPTION_TRAP)
		schedule_prefer(vm->vcpus);
}
