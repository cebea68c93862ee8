/* SPDX-License-Identifier: Apache-2.0 */
/* Brings vCPUs to CPUs that are idle, and has those run that others spin for (pull.h). */
#include "core/pull.h"

#include "arch.h"
#include "core/migration.h"
#include "core/policy.h"
#include "core/schedule.h"
#include "core/time.h"
#include "guest_cpus.h"
#include "masked_state.h"

/* A turn lasts for a millisecond divided by this at least, whoever spins. */
#define TURN_RATE 20u

u32 pull_idle_cpu(u32 cpus)
{
	for (; cpus != 0; cpus &= cpus - 1) {
		u32 cpu = (u32)__builtin_ctz(cpus);

		if (part_page_of(cpu)->idle != 0 && outbox_of(cpu)->alive != 0)
			return cpu;
	}
	return core.index;
}

/* Returns whether one of the current vCPU's siblings here could run. */
static bool sibling_waits(void)
{
	for (u32 i = 0; i < GANDALF_CPUS_MAXIMUM; i++)
		if (part_vms[i] != NULL && schedule_waits(part_vms[i]->vcpus))
			return true;
	return false;
}

void pull_turn_ends(struct vm *vm)
{
	u32 cpu;

	EXPECTS_MASKED();
	if (!vm_is_seat(vm) || policy_of(vm) != GANDALF_PREEMPTION_PULL || !sibling_waits())
		return;
	cpu = pull_idle_cpu(vm->cpus);
	if (cpu == core.index)
		return;
	vm->leaves_for = cpu + 1;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
}

/* Calls one each time: who still spins calls again. */
void pull_spins(const struct vm *vm)
{
	const struct gandalf_guest *guest = vm->guest;

	EXPECTS_MASKED();
	if (policy_of(vm) != GANDALF_PREEMPTION_PULL)
		return;
	for (u32 i = 1; i < guest->vcpu_count; i++) {
		u32 number = (vm->number + i) % guest->vcpu_count;
		u32 cpu = part_core(guest, number);

		if (cpu == core.index || part_page_of(cpu)->lost[number] == 0 ||
		    part_page_of(cpu)->of_rtos != 0)
			continue;
		message_send(cpu, MESSAGE_TURN + number);
		return;
	}
}

/* Of two on a core the other one has its turn; of more, the next, and who spins calls again. */
static void turn_serve(UNUSED u32 from, u32 number)
{
	const struct vm *vm = part_vms[number];
	u32 lasted = (u32)core_ran(core.current) - core.current->turn;

	if (vm != NULL && core.current->of_several && schedule_waits(vm->vcpus) &&
	    lasted >= time_tsc_khz / TURN_RATE)
		schedule_yield();
}
MESSAGES_SERVED(MESSAGE_TURN, GANDALF_CPUS_MAXIMUM, turn_serve);
