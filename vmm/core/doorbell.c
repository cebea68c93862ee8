/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells: interrupts that guests send to each other. */
#include "core/channel.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/work.h"

/* Rings a guest if it has a channel with the caller. A Linux that rings an RTOS, the frequent case,
 * does not come here. */
APART static u32 doorbell_ring_peer(const struct vm *from, const struct vm *to)
{
	if (from == to || !channel_connects(from, to))
		return (u32)GANDALF_ERROR_ARGUMENT;
	return to->kind->ring(to);
}

static u32 hypercall_doorbell(struct vcpu *vcpu)
{
	u32 place = frame_argument(vcpu->frame, 0);
	const struct vm *to;

	work_end(doorbell);
	vcpu_notify(vcpu); /* the guest that is rung may be more urgent than the caller */
	if (place >= core.vm_count)
		return (u32)GANDALF_ERROR_ARGUMENT;
	to = &vms[place];
	if (to->kind->real_time && !vcpu->vm->kind->real_time)
		return to->kind->ring(to);
	return doorbell_ring_peer(vcpu->vm, to);
}
HYPERCALL(GANDALF_HYPERCALL_DOORBELL, HYPERCALL_OF_ALL, hypercall_doorbell);
