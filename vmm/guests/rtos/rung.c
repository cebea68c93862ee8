/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells of other cores that find the RTOS at work. Mostly nothing else waits for it. Then it
 * gets its interrupt in the entry by which its core learns of it, without the queue of messages and
 * the scheduler. It has the bound of any other message all the same: the core's window.
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "guests/rtos/rtos.h"
#include "masked_state.h"

/* Returns whether the guest's vCPU that runs may be rung at once: it is an RTOS that hears it, and
 * nothing else waits for it, or for others, who may be more urgent. */
static INLINE bool hears_at_once(const struct vcpu *vcpu)
{
	return vcpu->vm->kind->real_time && !vcpu_is_notified(vcpu) &&
	       vcpu->vm->state == GANDALF_STATE_RUNNING &&
	       vcpu->rtos->handlers[GANDALF_VECTOR_DOORBELL] != 0;
}

/* Has no event in the trace ring but the delivery, which tells of it. If the RTOS has its
 * interrupts disabled it waits, as on the way that others take. */
static HOT void doorbell_interrupt(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	EXPECTS_MASKED();
	if (!origin_is_guest(vcpu, frame) || !hears_at_once(vcpu) ||
	    message_take_doorbell(vcpu->id) == 0) {
		trap_interrupt(frame);
		return;
	}
	vcpu_count(vcpu, COUNTER_entries);
	vcpu_count(vcpu, COUNTER_interrupts);
	vcpu_count(vcpu, COUNTER_quick_ipis);
	vcpu->pending |= PENDING_BIT(GANDALF_VECTOR_DOORBELL);
	vcpu->operations->deliver(vcpu);
}
MESSAGES_ENTER(VECTOR_APIC_DOORBELL, doorbell_interrupt);
