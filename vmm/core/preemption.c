/* SPDX-License-Identifier: Apache-2.0 */
/* Sends vCPUs of Linux away from a core that an RTOS has, and has them come back (preemption.h). */
#include "core/preemption.h"

#include "arch.h"
#include "core/migration.h"
#include "core/module.h"
#include "core/policy.h"
#include "core/tenure.h"
#include "lib/owner.h"
#include "whole.h"

OF_CORE static u32 away;      /* vCPUs that have been sent away from here, as bits */
OF_CORE static u32 rtos_cpus; /* the CPUs on which there is an RTOS, as bits */

/* --- Departure --- */

/* Returns where a vCPU goes from here: to the next of its guest's CPUs on which there is no RTOS;
 * if there is one on each, to the next; if there is no other that runs, nowhere, which is here. */
static u32 refuge(const struct vm *vm)
{
	const struct gandalf_guest *guest = vm->guest;
	u32 found = core.index;

	for (u32 i = 1; i < guest->vcpu_count; i++) {
		u32 cpu = guest->vcpu_cpus[(vm->number + i) % guest->vcpu_count];

		if (cpu == core.index || outbox_of(cpu)->alive == 0)
			continue;
		if ((rtos_cpus >> cpu & 1) == 0)
			return cpu;
		if (found == core.index)
			found = cpu;
	}
	return found;
}

static void vcpu_waits(const struct vm *vm, u64 ticks)
{
	part_page_of(core.index)->waited[vm->number] += ticks;
}

/* Sends one vCPU away. Returns false if none is left that could be. */
static bool one_leaves(void)
{
	for (u32 i = 1; i < GANDALF_CPUS_MAXIMUM; i++) {
		struct vm *vm = part_vms[i];
		bool could_run;

		if (vm == NULL || vm->seat == NULL ||
		    policy_of(vm) != GANDALF_PREEMPTION_ON_DEMAND)
			continue;
		could_run = vm->vcpus->state == VCPU_RUNNING;
		vm->leaves_for = refuge(vm) + 1;
		seat_depart(vm);
		if (part_vms[i] == NULL) {
			vcpu_waits(vm, could_run ? tenure_lasted() : 0);
			away |= 1u << i;
			return true;
		}
	}
	return false;
}

/* --- Return --- */

/* Has those come back that were sent away. Returns whether one is to be asked again, since a
 * request may be lost (migration.h). One that does not run is asked when an RTOS is done next. */
static bool all_return(void)
{
	bool again = false;

	for (u32 i = 1; i < GANDALF_CPUS_MAXIMUM; i++) {
		int result;

		if ((away >> i & 1) == 0)
			continue;
		result = part_act(seat_vms[i], GANDALF_ACTION_MOVE, i, core.index);
		again |= result == GANDALF_ERROR_BUSY;
		if (result == 0)
			away &= ~(1u << i);
	}
	return again;
}

/* One vCPU leaves at a time, so that other interrupts of the RTOS come in between. */
static bool tenure_lasts(bool rtos)
{
	bool more = rtos ? one_leaves() : all_return();

	tenure_of_linux(away != 0);
	return more;
}

/* Counts how long those have waited that are still here, the first vCPU among them. */
static void tenure_ended(u64 ticks)
{
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++)
		if (part_vms[i] != NULL && part_vms[i]->vcpus->state == VCPU_RUNNING)
			vcpu_waits(part_vms[i], ticks);
}

void preemption_watch(void)
{
	tenure_init(tenure_lasts, tenure_ended);
	for (u32 i = 0; i < system_table.guest_count; i++)
		if (system_table.guests[i].kind == GANDALF_KIND_RTOS)
			rtos_cpus |= 1u << system_table.guests[i].cpu;
}
