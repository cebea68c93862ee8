/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells: interrupts that guests send to each other. */
#include "core/channel.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/work.h"

/* A Linux that rings an RTOS, the frequent case, is not asked for a channel with it. */
static u32 hypercall_doorbell(struct vcpu *vcpu)
{
	u32 place = frame_argument(vcpu->frame, 0);
	const struct vm *from = vcpu->vm, *to = from;

	work_mask(doorbell);
	if (place < core.vm_count)
		to = &vms[place];
	if ((to->kind->real_time && !from->kind->real_time) ||
	    (from != to && channel_connects(from, to)))
		return to->kind->ring(to);
	return (u32)GANDALF_ERROR_ARGUMENT;
}
HYPERCALL(GANDALF_HYPERCALL_DOORBELL, HYPERCALL_OF_ALL, hypercall_doorbell);
