/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which CPUs a guest has from the system table, and checks them for core/table.c. */
#include "guest_cpus.h"

u32 guest_cpus(const struct gandalf_guest *guest)
{
	u32 cpus = 0;

	for (u32 i = 0; i < guest->vcpu_count; i++)
		cpus |= 1u << guest->vcpu_cpus[i];
	return cpus;
}

bool guest_has_cpus(const struct gandalf_table *table, const struct gandalf_guest *guest)
{
	u32 count = guest->vcpu_count, cpus = 0;

	if (count == 0 || count > GANDALF_CPUS_MAXIMUM || guest->vcpu_cpus[0] != guest->cpu ||
	    (guest->kind == GANDALF_KIND_LINUX_SMP) != (count > 1))
		return false;
	for (u32 i = 0; i < count; i++) {
		u32 cpu = guest->vcpu_cpus[i];

		if (cpu >= table->cpus || (i != 0 && cpu == 0) || (cpus >> cpu & 1) != 0)
			return false;
		cpus |= 1u << cpu;
	}
	return true;
}

