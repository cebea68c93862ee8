/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves the core's interrupts to a guest and takes them back: see direct.h. */
#include "core/direct.h"

#include "arch.h"
#include "core/core.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/masked_sections.h"
#include "core/rate.h"
#include "core/time.h"
#include "direct_message.h"

/* Hands on an interrupt that entered the VMM: while the guest slept, at a point of the VMM's work
 * for it, or by one of the last vectors. */
static void direct_interrupt(unsigned vector)
{
	if (direct_message(vector))
		return;
	core.direct->operations->interrupt(core.direct, vector);
}

void direct_begin(struct vcpu *vcpu)
{
	log_leave();
	time_stop();
	/* Interrupts that wait by now belong to the VMM, so they are served first. */
	interrupts_admit(gates_to_linux);
	rate_forget();
	core.direct = vcpu;
	core.pauses = false;
	trap_give_clock(true);
	direct_message_begin();
	interrupt_leave(direct_interrupt);
}

void direct_end(void)
{
	core.direct = NULL;
	core.pauses = core.interruptible;
	trap_give_clock(false);
	interrupt_take_back();
	time_start();
	direct_message_end();
	log_take_back();
}
