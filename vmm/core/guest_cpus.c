/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which CPUs a guest has from the system table, and checks them for core/table.c. */
#include "guest_cpus.h"

#include "abi/control.h"

/* What only a guest with several vCPUs has. */
enum { OF_SEVERAL = GANDALF_GUEST_MIGRATES | GANDALF_GUEST_SPINS };

u32 guest_cpus(const struct gandalf_guest *guest)
{
	u32 cpus = 0;

	for (u32 i = 0; i < guest->vcpu_count; i++)
		cpus |= 1u << guest->vcpu_cpus[i];
	return cpus;
}

bool guest_has_seat(const struct gandalf_guest *guest, u32 number, u32 cpu)
{
	if (number == 0 || (guest->flags & GANDALF_GUEST_MIGRATES) == 0)
		return guest->vcpu_cpus[number] == cpu;
	for (u32 i = 0; i < guest->vcpu_count; i++)
		if (guest->vcpu_cpus[i] == cpu)
			return true;
	return false;
}

/* Whether a guest's further vCPUs on a CPU find room there: each core has places for as many VMs as
 * there can be guests, and all guests have one on each. */
static bool cpus_have_room(const struct gandalf_table *table, const struct gandalf_guest *guest)
{
	for (u32 cpu = 0; cpu < table->cpus; cpu++) {
		u32 places = table->guest_count;

		for (u32 i = 0; i < guest->vcpu_count; i++)
			places += guest_has_seat(guest, i, cpu);
		if (places > GANDALF_GUESTS_MAXIMUM + 1)
			return false;
	}
	return true;
}

/* Whether a number lies within its limits, or is 0 if there is to be none. */
static bool is_within(u32 value, bool is_there, u32 least, u32 most)
{
	return is_there ? value >= least && value <= most : value == 0;
}

bool guest_has_cpus(const struct gandalf_table *table, const struct gandalf_guest *guest)
{
	u32 count = guest->vcpu_count;
	bool several = guest->kind == GANDALF_KIND_LINUX_SMP;

	if (count == 0 || count > GANDALF_CPUS_MAXIMUM || guest->vcpu_cpus[0] != guest->cpu ||
	    several != (count > 1) || (!several && (guest->flags & OF_SEVERAL) != 0) ||
	    guest->preemption >= GANDALF_PREEMPTION_POLICIES ||
	    (guest->preemption != 0 && (guest->flags & GANDALF_GUEST_MIGRATES) == 0) ||
	    !is_within(guest->slice_us, several, GANDALF_SLICE_MINIMUM, GANDALF_SLICE_MAXIMUM) ||
	    !is_within(guest->delay_limit_us, several, GANDALF_DELAY_MINIMUM,
		       GANDALF_DELAY_MAXIMUM))
		return false;
	for (u32 i = 0; i < count; i++)
		if (guest->vcpu_cpus[i] >= table->cpus)
			return false;
	return cpus_have_room(table, guest);
}
