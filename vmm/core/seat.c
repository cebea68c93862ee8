/* SPDX-License-Identifier: Apache-2.0 */
/* Says where a vCPU is that moves from core to core, for which it has left, and whether it runs
 * there (migration.h, part.h). */
#include "core/core.h"
#include "core/migration.h"
#include "lib/owner.h"

OF_CORE struct vm *seat_vms[GANDALF_CPUS_MAXIMUM];

/* Follows a vCPU from a core that has it, or has had it, to the one that it is on. A stay has a
 * higher number than those before, so this comes to an end. */
static u32 core_behind(u32 at, u32 number)
{
	for (;;) {
		const volatile struct part_page *page = part_page_of(at);
		u32 stay = page->held[number], next;

		if (page->left[number] != stay + 1)
			return at;
		next = page->left_for[number];
		if ((s32)(part_page_of(next)->held[number] - stay) <= 0)
			return at; /* it is on its way */
		at = next;
	}
}

/* Begins where the vCPU was the last time at which this core has looked. Mostly it is still there:
 * a guest that interrupts all its vCPUs has the VMM look for each. */
u32 part_core(const struct gandalf_guest *guest, u32 number)
{
	struct vm *seat = seat_vms[number];
	u32 home = guest->vcpu_cpus[number];

	if (!guest_migrates(guest))
		return home;
	if (seat == NULL || seat->guest != guest)
		return core_behind(home, number);
	if (seat->seen_on == 0)
		seat->seen_on = home + 1;
	seat->seen_on = core_behind(seat->seen_on - 1, number) + 1;
	return seat->seen_on - 1;
}

bool seat_is_left(u32 core_index, u32 number)
{
	volatile struct part_page *page = part_page_of(core_index);

	return page->left[number] == page->held[number] + 1;
}

bool seat_is_expected(const struct vm *vm)
{
	u32 at = part_core(vm->guest, vm->number);

	return at != core.index && seat_is_left(at, vm->number) &&
	       part_page_of(at)->left_for[vm->number] == core.index;
}

u32 seat_core_ahead(const struct gandalf_guest *guest, u32 number)
{
	u32 at = part_core(guest, number);

	return at == core.index ? part_page_of(core.index)->left_for[number] : at;
}

bool part_runs_no_more(u32 number, u32 cpu, u32 life)
{
	return outbox_of(cpu)->alive == 0 || part_page_of(cpu)->ended[number] == life ||
	       (seat_is_left(cpu, number) &&
		outbox_of(part_page_of(cpu)->left_for[number])->alive == 0);
}
