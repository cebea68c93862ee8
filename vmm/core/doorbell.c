/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells: an interrupt of one guest for another.
 */
#include "core/channel.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/work.h"

/* For anybody but a Linux that rings an RTOS: there must be a channel between the two. */
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
	vcpu_notify(vcpu); /* who is rung may be more urgent */
	if (place >= core.vm_count)
		return (u32)GANDALF_ERROR_ARGUMENT;
	to = &vms[place];
	if (to->kind->real_time && !vcpu->vm->kind->real_time)
		return to->kind->ring(to);
	return doorbell_ring_peer(vcpu->vm, to);
}
HYPERCALL(GANDALF_HYPERCALL_DOORBELL, HYPERCALL_OF_ALL, hypercall_doorbell);
