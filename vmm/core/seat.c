/* SPDX-License-Identifier: Apache-2.0 */
/* Says where a vCPU is that moves from core to core, and for which it has left (migration.h). */
#include "core/core.h"
#include "core/migration.h"
#include "lib/owner.h"

OF_CORE struct vm *seat_vms[GANDALF_CPUS_MAXIMUM];

u32 part_core(const struct gandalf_guest *guest, u32 number)
{
	u32 at = guest->vcpu_cpus[number];

	for (u32 i = 0; i < guest->vcpu_count && guest_migrates(guest); i++) {
		u32 cpu = guest->vcpu_cpus[i];

		if ((s32)(part_page_of(cpu)->held[number] - part_page_of(at)->held[number]) > 0)
			at = cpu;
	}
	return at;
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
