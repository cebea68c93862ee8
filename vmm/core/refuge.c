/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the core on which a vCPU goes on (refuge.h). */
#include "core/refuge.h"

#include "core/module.h"
#include "core/part.h"
#include "core/pull.h"
#include "lib/owner.h"

OF_CORE static u32 rtos_cpus; /* the CPUs on which there is an RTOS, as bits */

bool refuge_has_rtos(u32 cpu)
{
	return (rtos_cpus >> cpu & 1) != 0;
}

/* Returns an idle CPU, if the policy has vCPUs look for one: by "trap" it is without an RTOS. */
static u32 idle_cpu(const struct vm *vm, u32 policy)
{
	if (policy == GANDALF_PREEMPTION_PULL)
		return pull_idle_cpu(vm->cpus);
	if (policy == GANDALF_PREEMPTION_TRAP)
		return pull_idle_cpu(vm->cpus & ~rtos_cpus);
	return core.index;
}

/* If none is idle: the next of its guest's CPUs on which there is no RTOS; if there is one on each,
 * the next that none has; if there is no such one, this. The last that is looked at is the one
 * where the vCPU was at first. */
u32 refuge_find(const struct vm *vm, u32 policy, bool *taken)
{
	u32 found = idle_cpu(vm, policy);
	const struct gandalf_guest *guest = vm->guest;
	bool any_taken = false;

	if (found != core.index)
		return found;
	for (u32 i = 1; i <= guest->vcpu_count; i++) {
		u32 cpu = guest->vcpu_cpus[(vm->number + i) % guest->vcpu_count];

		if (cpu == core.index || outbox_of(cpu)->alive == 0)
			continue;
		if (part_page_of(cpu)->of_rtos != 0) {
			any_taken = true;
			continue;
		}
		if (!refuge_has_rtos(cpu))
			return cpu;
		if (found == core.index)
			found = cpu;
	}
	*taken |= any_taken && found == core.index;
	return found;
}

void refuge_init(void)
{
	for (u32 i = 0; i < system_table.guest_count; i++)
		if (system_table.guests[i].kind == GANDALF_KIND_RTOS)
			rtos_cpus |= 1u << system_table.guests[i].cpu;
}
