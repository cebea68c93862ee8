/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loan: an RTOS that has the core gives it for 5 microseconds to a vCPU of Linux for which the
 * VMM's work was interrupted, so that the work ends and the vCPU can leave (preemption.h). The loan
 * ends with the work, and at once when something waits for the RTOS or for a more urgent one. There
 * is none before the RTOS has had the core for ten times as long.
 */
#pragma once

#include "core/vcpu.h"

/* A millisecond divided by this is the longest loan. */
#define LOAN_RATE 200u

/* Who has the core by a loan; NULL: nobody. */
extern struct vcpu *loan_holder;

/* Before the first loan. */
void loan_init(void);
/* Has the RTOS that runs lend the core to a vCPU of Linux. Interrupts are masked. */
void loan_begin(struct vcpu *to);
/* While there is a loan: returns whether it goes on if the vCPU `first` is the most urgent one that
 * can run. If it does not, it has ended. */
bool loan_lasts(const struct vcpu *first);
