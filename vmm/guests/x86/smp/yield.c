/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a spin yield, SPUMONE's fourth remedy against lock-holder preemption: a vCPU that has spun
 * for long, mostly for a lock, ends its turn. What it waits for may be a sibling on the same core,
 * which can do nothing until then. Linux tells by a hypercall, once in GANDALF_SPINS looks.
 */
#include "core/feature.h"
#include "core/hypercall.h"
#include "core/pull.h"
#include "core/schedule.h"
#include "core/work.h"
#include "guests/x86/smp/masked_sections.h"
#include "guests/x86/x86.h"
#include "masked_state.h"
#include "siblings.h"

static u32 hypercall_yield(struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;

	if (!x86_has_siblings(vcpu->x86))
		return (u32)GANDALF_ERROR_ARGUMENT;
	work_mask(yield);
	part_page_own()->ticks[GANDALF_TICKS_SPINS][vm->number]++;
	if ((vm->guest->flags & GANDALF_GUEST_SPINS) != 0)
		return 0;
	pull_spins(vm);
	if (!vcpu->shares)
		return 0;
	vcpu_count(vcpu, COUNTER_yields);
	schedule_yield();
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_YIELD, HYPERCALL_OF_LINUX, hypercall_yield);
FEATURE(yield, FEATURE_YIELD);
