/* SPDX-License-Identifier: Apache-2.0 */
/* Measures for how long vCPUs wait for the core while they could run (steal.h). */
#include "core/steal.h"

#include "arch.h"
#include "core/core.h"
#include "core/part.h"
#include "masked_state.h"

/* Returns whether it is a vCPU of a Linux with several. The idle vCPU has no VM. */
static bool is_of_several(const struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;

	return vm != NULL && vm->guest->vcpu_count > 1;
}

void steal_switches(const struct vcpu *from, const struct vcpu *to)
{
	volatile struct part_page *page = part_page_own();
	u64 now = rdtsc();

	EXPECTS_MASKED();
	page->idle = to == &idle_vcpu;
	if (is_of_several(from))
		page->lost[from->vm->number] = from->state == VCPU_RUNNING ? now : 0;
	if (!is_of_several(to))
		return;
	if (page->lost[to->vm->number] != 0)
		page->stolen[to->vm->number] += now - page->lost[to->vm->number];
	page->lost[to->vm->number] = 0;
	to->shared->stolen = page->stolen[to->vm->number];
}

void steal_begins(u32 number)
{
	part_page_own()->lost[number] = 0;
}
