/* SPDX-License-Identifier: Apache-2.0 */
/* Has the kernel of a Linux run elsewhere than on cores with an RTOS (trap_policy.h). */
#include "core/trap_policy.h"

#include "core/feature.h"
#include "core/migration.h"
#include "core/policy.h"
#include "core/refuge.h"
#include "core/schedule.h"
#include "lib/owner.h"
#include "masked_state.h"

FEATURE(trap_policy, FEATURE_TRAP_POLICY);

OF_CORE static u32 looked_at; /* the number of the vCPU that trap_policy_begins() looked at last */

/* 1 + the core with an RTOS from which the vCPU is away; 0: it is away from none, or from one that
 * has no VMM any more. */
static u32 away_from(const struct vm *vm)
{
	u32 from = part_page_own()->refugee_of[vm->number];

	return from == 0 || from == core.index + 1 || outbox_of(from - 1)->alive == 0 ? 0 : from;
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
	if (policy_of(vm) != GANDALF_PREEMPTION_TRAP || !refuge_has_rtos(core.index))
		return 0;
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

/* One that was away when its last life ended still is, and nobody else has it come back. */
u32 trap_policy_starts(const struct vm *vm)
{
	return away_from(vm) != 0 ? WATCH_ENTRIES | WATCH_RETURN : 0;
}

static const struct kernel_watch *watch(void)
{
	return *UNITS_FIRST(kernel_watches);
}

static void vcpu_begins(struct vm *vm)
{
	watch()->begin(vm->vcpus);
	if (away_from(vm) == 0 && watch()->in_kernel(vm->vcpus))
		kernel_leaves(vm);
}

/* It looks at one vCPU each time, and at the next one the next time: this is done in a switch. */
void trap_policy_begins(void)
{
	EXPECTS_MASKED();
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++) {
		struct vm *vm;

		looked_at = (looked_at + 1) % GANDALF_CPUS_MAXIMUM;
		vm = part_vms[looked_at];
		if (vm == NULL || !vm_is_seat(vm) || vm->state != GANDALF_STATE_RUNNING)
			continue;
		vcpu_begins(vm);
		return;
	}
}

void trap_policy_departs(struct vm *vm)
{
	watch()->begin(vm->vcpus);
}

bool trap_policy_brings_back(const struct vm *vm)
{
	return vm->vcpus->watched != 0;
}

void trap_policy_arrives(const struct vm *vm)
{
	if ((vm->vcpus->watched & WATCH_RETURN) != 0)
		schedule_prefer(vm->vcpus);
}
