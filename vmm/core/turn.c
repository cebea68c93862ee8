/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives turns to vCPUs of one Linux that share a core: how long they are, and why one may be
 * longer. In an image for guests with one vCPU single/whole.h has the same for RTOSes alone.
 */
#include "core/masked_sections.h"
#include "core/work.h"
#include "lib/owner.h"
#include "whole.h"

OF_CORE u32 parts_here, works_interrupted;
OF_CORE static void (*told)(struct vm *vm); /* that a turn has ended; NULL: nobody is */

/* RTOSes take turns of a millisecond. */
u32 turn_length(const struct vcpu *vcpu)
{
	if (vcpu->priority != 0)
		return time_tsc_khz;
	return time_tsc_khz / 1000 * vcpu->vm->guest->slice_us;
}

/* What the VMM has half done for a vCPU must not be seen by its work for another one: the pool and
 * the windows of memory.c. So the end of a turn waits for the end of the work. */
struct vcpu *turn_at_work(struct vcpu *first)
{
	struct vcpu *end = vcpus + core.vcpu_count;

	if (first->priority != 0 || works_interrupted == 0)
		return first;
	for (struct vcpu *at = vcpus; at < end; at++)
		if (at->working && at->priority == 0 && at->state == VCPU_RUNNING)
			return at;
	return first;
}

void turn_watch(void (*ends)(struct vm *vm))
{
	told = ends;
}

void turn_ends(const struct vcpu *vcpu)
{
	if (told != NULL && vcpu->priority == 0)
		told(vcpu->vm);
}

bool turn_admits(const struct vcpu *vcpu)
{
	work_admit(turn);
	return vcpu_must_attend(vcpu);
}
