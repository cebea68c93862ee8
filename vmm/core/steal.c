/* SPDX-License-Identifier: Apache-2.0 */
/* Measures for how long vCPUs wait for the core while they could run (steal.h). */
#include "core/steal.h"

#include "arch.h"
#include "core/core.h"
#include "core/part.h"
#include "masked_state.h"

/* Nobody else writes this core's page, so it need not be read anew each time. */
void steal_switches(const struct vcpu *from, const struct vcpu *to)
{
	struct part_page *page = (struct part_page *)part_page_own();
	u64 *lost;

	EXPECTS_MASKED();
	page->idle = to == &idle_vcpu;
	if (from->of_several)
		page->lost[from->vm->number] = from->state == VCPU_RUNNING ? rdtsc() : 0;
	if (!to->of_several)
		return;
	lost = &page->lost[to->vm->number];
	if (*lost == 0)
		return;
	page->stolen[to->vm->number] += rdtsc() - *lost;
	*lost = 0;
	to->shared->stolen = page->stolen[to->vm->number];
}

void steal_arrives(const struct vcpu *vcpu, u32 from)
{
	vcpu->shared->stolen = part_page_of(from)->stolen[vcpu->vm->number];
}

void steal_begins(const struct vcpu *vcpu)
{
	part_page_own()->lost[vcpu->vm->number] = 0;
	steal_arrives(vcpu, core.index);
}
