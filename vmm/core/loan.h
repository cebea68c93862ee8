/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says when Linux has a core although an RTOS comes first.
 *
 * A loan: an RTOS has had the core for some time, and has begun its job, when a vCPU of Linux is to
 * leave the core for which the VMM works (core/preemption.c). It cannot leave amid that, and would
 * wait for the whole job, and its siblings for the locks that it holds. So the core is lent to that
 * work for ten microseconds, or until it is done, or until anything comes for the RTOS, whichever
 * is first. It is no part of a dispatch. The RTOS's job takes so much longer.
 *
 * A delay, by the policy "delayed": the RTOS is not dispatched as long as the vCPU that has the
 * core holds spin locks, and for as long as the description says at most. Linux counts them in the
 * shared page, and does not tell when there are none: the VMM looks every five microseconds.
 */
#pragma once

#include "core/core.h"

/* Whether a loan runs, or an RTOS may have to wait, as bits. */
enum { LINUX_HAS_LOAN = 1, LINUX_IS_WAITED_FOR = 2 };
extern u8 linux_first;

/* Begins a loan to whom the VMM works for. It is called in an interrupt of an RTOS. */
void loan_begin(void);
static inline bool loan_runs(void)
{
	return (linux_first & LINUX_HAS_LOAN) != 0;
}

/* Says whether RTOSes are to wait for spin locks of Linux from now on. */
void delay_allow(bool allowed);
/* Returns who has the core instead of who comes first. It is not for when linux_first is 0. */
struct vcpu *linux_holder(struct vcpu *first);
void loan_init(void);
