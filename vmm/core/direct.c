/* SPDX-License-Identifier: Apache-2.0 */
/* What is different while a guest takes the core's interrupts itself. */
#include "core/direct.h"

#include "arch.h"
#include "core/core.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/time.h"

/* One that came in while the guest slept, or at a point of the VMM's work for it. */
static void direct_interrupt(unsigned vector)
{
	core.direct->operations->interrupt(core.direct, vector);
}

void direct_begin(struct vcpu *vcpu)
{
	log_leave();
	time_stop();
	/* What waits is still the VMM's. */
	interrupts_admit(gates_to_linux);
	core.direct = vcpu;
	core.pauses = false;
	trap_give_clock(true);
	interrupt_leave(direct_interrupt);
}

void direct_end(void)
{
	core.direct = NULL;
	core.pauses = core.interruptible;
	trap_give_clock(false);
	interrupt_take_back();
	time_start();
	log_take_back();
}
