/* SPDX-License-Identifier: Apache-2.0 */
/* Lends a core that an RTOS has to the VMM's work for a vCPU of Linux (loan.h). */
#include "core/loan.h"

#include "arch.h"
#include "core/core.h"
#include "core/time.h"
#include "lib/owner.h"
#include "masked_state.h"

OF_CORE struct vcpu *loan_holder;
OF_CORE static struct deadline loan_term;

static u64 loan_expire(UNUSED struct deadline *deadline)
{
	loan_holder = NULL;
	vcpu_notify(core.current);
	return TIME_NEVER;
}

void loan_begin(struct vcpu *to)
{
	EXPECTS_MASKED();
	loan_holder = to;
	deadline_set(&loan_term, rdtsc() + time_tsc_khz / LOAN_RATE);
	vcpu_notify(core.current);
}

/* The work is over if nothing has interrupted it: then the vCPU is about to return to its guest. An
 * RTOS that has come first meanwhile has been woken up, and so notified. */
bool loan_lasts(const struct vcpu *first)
{
	if (first->priority != 0 && !vcpu_is_notified(first) && loan_holder->working &&
	    loan_holder->state == VCPU_RUNNING)
		return true;
	loan_holder = NULL;
	deadline_set(&loan_term, TIME_NEVER);
	return false;
}

void loan_init(void)
{
	deadline_init(&loan_term, loan_expire, 0);
}
