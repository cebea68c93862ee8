/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doorbells of other cores that find the RTOS at work, or its core asleep. Mostly nothing else
 * waits for it. Then it is rung in the entry by which its core learns of it, without the queue of
 * messages. It has the bound of any other message all the same: the core's window.
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/origin.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "core/schedule.h"
#include "guests/rtos/rtos.h"
#include "masked_state.h"

/* Returns whether a guest's vCPU may be rung at once: it is an RTOS that hears it, and nothing else
 * waits for it, or for others, who may be more urgent. */
static INLINE bool hears_at_once(const struct vcpu *vcpu)
{
	return vcpu->vm->kind->real_time && !vcpu_is_notified(vcpu) &&
	       vcpu->vm->state == GANDALF_STATE_RUNNING &&
	       vcpu->rtos->handlers[GANDALF_VECTOR_DOORBELL] != 0;
}

/* Serves a doorbell that has interrupted the idle vCPU, and returns when that goes on. Returns
 * false if the doorbell is left to others. The first vCPU is the most urgent one, so it has the
 * core at once. Work of the idle vCPU is left to them too, since RTOSes do not always come before
 * it. */
MUST_CHECK APART static bool sleeper_is_rung(const struct vcpu *idle)
{
	struct vcpu *first = &vcpus[0];

	if (idle != &idle_vcpu || core.housekeeping != 0 || first->state != VCPU_HALTED ||
	    !hears_at_once(first) || message_take_doorbell(first->id, MESSAGES_AT_ONCE) == 0)
		return false;
	vcpu_count(first, COUNTER_quick_ipis);
	rtos_pend(first, PENDING_BIT(GANDALF_VECTOR_DOORBELL));
	schedule();
	return true;
}

/* Has no event in the trace ring but the switch and the delivery, which tell of it. If the RTOS has
 * its interrupts disabled it waits, as on the way that others take. */
static HOT void doorbell_interrupt(struct frame *frame)
{
	struct vcpu *vcpu = core.current;

	EXPECTS_MASKED();
	if (!origin_is_guest(vcpu, frame)) {
		if (!sleeper_is_rung(vcpu))
			trap_interrupt(frame);
		return;
	}
	if (!hears_at_once(vcpu) || message_take_doorbell(vcpu->id, MESSAGES_OF_RTOS) == 0) {
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
