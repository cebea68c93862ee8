/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what control asks for on vCPUs of a guest and not on the guest (whole.h): says where they
 * are, and for how long they have waited or moved, and has them move.
 */
#include "core/migration.h"
#include "core/module.h"
#include "core/policy.h"
#include "core/time.h"
#include "guest_cpus.h"
#include "masked_state.h"

u32 seat_clock(void)
{
	EXPECTS_MASKED();
	return (u32)core.current->ran + (u32)rdtsc();
}

void seat_took(u32 kind, u32 number, u32 begin)
{
	part_page_of(core.index)->ticks[kind][number] += seat_clock() - begin;
}

static int seat_waited(const struct gandalf_guest *guest, u32 number)
{
	u64 ticks = 0;

	for (u32 cpu = 0; cpu < system_table.cpus; cpu++)
		if ((guest_cpus(guest) >> cpu & 1) != 0)
			ticks += part_page_of(cpu)->waited[number];
	return (int)(time_milliseconds(ticks) & 0x7fffffff);
}

/* Each core has what a vCPU's moves have taken there. */
static int seat_ticks(const struct gandalf_guest *guest, u32 kind, u32 number)
{
	u32 ticks = 0;

	if (kind == GANDALF_TICKS_WAITED)
		return seat_waited(guest, number);
	if (kind > GANDALF_TICKS_WAITED)
		return GANDALF_ERROR_ARGUMENT;
	for (u32 cpu = 0; cpu < system_table.cpus; cpu++)
		if ((guest_cpus(guest) >> cpu & 1) != 0)
			ticks += part_page_of(cpu)->ticks[kind][number];
	return (int)(ticks & 0x7fffffff);
}

int part_act(const struct vm *vm, u32 action, u32 number, u32 cpu)
{
	const struct gandalf_guest *guest = vm->guest;
	u32 at;

	EXPECTS_MASKED();
	if (action == GANDALF_ACTION_POLICY)
		return policy_act(vm, number);
	if (number >= guest->vcpu_count)
		return GANDALF_ERROR_ARGUMENT;
	at = part_core(guest, number);
	if (action == GANDALF_ACTION_WHERE)
		return (int)(part_page_of(at)->held[number] << 8 & 0x7fffffff) | (int)at;
	if (action == GANDALF_ACTION_TICKS)
		return seat_ticks(guest, cpu, number);
	if (number == 0 || cpu >= GANDALF_CPUS_MAXIMUM || !guest_has_seat(guest, number, cpu))
		return GANDALF_ERROR_ARGUMENT;
	if (!guest_migrates(guest))
		return GANDALF_ERROR_ARGUMENT;
	return seat_move(vm, number, cpu);
}
