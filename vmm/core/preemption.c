/* SPDX-License-Identifier: Apache-2.0 */
/* Sends vCPUs of Linux away from a core that an RTOS has, and has them come back (preemption.h). */
#include "core/preemption.h"

#include "arch.h"
#include "core/migration.h"
#include "core/policy.h"
#include "core/pull.h"
#include "core/refuge.h"
#include "core/tenure.h"
#include "core/trap_policy.h"
#include "lib/owner.h"
#include "whole.h"

/* How often an RTOS lends its core while it has it. */
#define LOANS_AT_MOST 20u

OF_CORE static u32 away;      /* this core's refugees that are to be asked back, as bits */
OF_CORE static u32 unasked;   /* those of them that are still to be asked back in this round */
OF_CORE static u32 asked;     /* those that have been, and are to be asked again */
OF_CORE static u32 leaving;   /* the number of the vCPU that is about to leave; 0: none */
OF_CORE static bool refuge_is_taken; /* one stays since RTOSes are at work elsewhere, too */
OF_CORE static u32 policy;    /* of those that leave, when the first was chosen */
OF_CORE static u32 loans;     /* how often the core was lent in this tenure */

/* --- Departure --- */

static void vcpu_waits(const struct vm *vm, u64 ticks)
{
	part_page_of(core.index)->waited[vm->number] += ticks;
}

/* Returns the number of the first vCPU behind another one that is to leave; 0: there is none. */
static u32 next_to_leave(u32 behind)
{
	for (u32 i = behind + 1; i < GANDALF_CPUS_MAXIMUM; i++)
		if (part_vms[i] != NULL && vm_is_seat(part_vms[i])) {
			policy = policy_of(part_vms[i]);
			return policy_moves(policy) ? i : 0;
		}
	return 0;
}

/* Sends the vCPU away. Returns false if it could not be. One that is the refugee of another core,
 * which lives, stays that: if two cores asked it back, it would never stay with either. */
static bool one_leaves(struct vm *vm)
{
	bool could_run = vm->vcpus->state == VCPU_RUNNING;
	volatile u32 *refugee_of = &part_page_own()->refugee_of[vm->number];
	u32 before = *refugee_of;

	if (before == 0 || outbox_of(before - 1)->alive == 0)
		*refugee_of = core.index + 1;
	seat_depart(vm);
	if (part_vms[vm->number] != NULL) {
		*refugee_of = before;
		return false;
	}
	vcpu_waits(vm, could_run ? tenure_lasted() : 0);
	if (*refugee_of == core.index + 1 && !trap_policy_brings_back(vm))
		away |= 1u << vm->number;
	return true;
}

static void one_is_chosen(struct vm *vm)
{
	vm->leaves_for = refuge_find(vm, policy, &refuge_is_taken) + 1;
	if (policy == GANDALF_PREEMPTION_TRAP)
		trap_policy_departs(vm);
}

/* Returns whether the VMM works for a vCPU that is to leave, and lends it the core for that. */
static bool work_is_lent(void)
{
	const struct vcpu *vcpu = turn_at_work(&idle_vcpu);

	if (vcpu == &idle_vcpu || !vm_is_seat(vcpu->vm) || loans == LOANS_AT_MOST ||
	    !policy_moves(policy))
		return false;
	loans++;
	loan_begin();
	return true;
}

/* One vCPU leaves at a time. It is chosen first, and where for, and it leaves in an interrupt of
 * its own: each takes long enough. Those that cannot leave are passed over. They are asked again if
 * RTOSes are at work on the other CPUs as well, which may be done sooner than this one, and behind
 * a loan. */
static enum tenure_told rtos_stays(void)
{
	u32 chosen = leaving;

	leaving = 0;
	/* The idle vCPU may have done something about it, to start a more urgent RTOS. */
	if (chosen != 0 && part_vms[chosen] != NULL && part_vms[chosen]->leaves_for != 0 &&
	    one_leaves(part_vms[chosen]))
		return TENURE_AGAIN;
	leaving = next_to_leave(chosen);
	if (leaving != 0) {
		one_is_chosen(part_vms[leaving]);
		return TENURE_AT_ONCE;
	}
	if (!work_is_lent() && !refuge_is_taken)
		return TENURE_DONE;
	refuge_is_taken = false;
	return TENURE_AGAIN;
}

/* --- Return --- */

/* Asks one back that was sent away. Its request may be lost (migration.h), so it is asked until it
 * is here. One that does not run, or whose guest is paused, is asked again when an RTOS is done
 * next. */
static void one_returns(u32 number)
{
	const struct vm *vm = seat_vms[number];
	u32 at = part_core(vm->guest, number);
	int result;

	if (part_page_of(at)->refugee_of[number] != core.index + 1)
		away &= ~(1u << number); /* it has been here meanwhile, and was moved by hand */
	if ((away >> number & 1) == 0 || whole_is_paused(vm))
		return;
	result = part_act(vm, GANDALF_ACTION_MOVE, number, core.index);
	if (result == GANDALF_ERROR_BUSY)
		asked |= 1u << number;
	if (result == 0)
		away &= ~(1u << number);
}

/* One is asked at a time; then all that are not here yet once more. */
static enum tenure_told linux_stays(void)
{
	if (unasked != 0)
		one_returns((u32)__builtin_ctz(unasked));
	unasked &= unasked - 1;
	if (unasked != 0)
		return TENURE_AT_ONCE;
	unasked = asked;
	asked = 0;
	return unasked != 0 ? TENURE_AGAIN : TENURE_DONE;
}

static enum tenure_told tenure_lasts(bool rtos)
{
	enum tenure_told told = rtos ? rtos_stays() : linux_stays();

	tenure_of_linux(away != 0);
	return told;
}

/* Has RTOSes wait for Linux from their next turn on, or not, and kernels stay away from here, as
 * the policy says by now. All vCPUs that are here are of one guest. */
static void policy_follows(void)
{
	u32 i = 0, now;

	while (i < GANDALF_CPUS_MAXIMUM && part_vms[i] == NULL)
		i++;
	if (i == GANDALF_CPUS_MAXIMUM)
		return;
	now = policy_of(part_vms[i]);
	delay_allow(now == GANDALF_PREEMPTION_DELAYED);
	if (now == GANDALF_PREEMPTION_TRAP)
		trap_policy_begins();
}

/* All are asked back in the tenure that begins. Counts how long those have waited that are still
 * here, the first vCPU among them. */
static void tenure_ended(u64 ticks)
{
	leaving = asked = loans = 0;
	refuge_is_taken = false;
	unasked = away;
	policy_follows();
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++)
		if (part_vms[i] != NULL && part_vms[i]->vcpus->state == VCPU_RUNNING)
			vcpu_waits(part_vms[i], ticks);
}

void preemption_watch(bool moves)
{
	tenure_init(moves ? tenure_lasts : NULL, tenure_ended);
	turn_watch(moves ? pull_turn_ends : NULL);
	loan_init();
	refuge_init();
	policy_follows();
}
