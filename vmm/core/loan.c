/* SPDX-License-Identifier: Apache-2.0 */
/* Has RTOSes lend the core to Linux, or wait for it (loan.h). */
#include "core/loan.h"

#include "core/part.h"
#include "core/time.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "whole.h"

/* A millisecond divided by these is the length of a loan, and how often locks are looked at. */
#define LOAN_RATE 100u
#define LOOK_RATE 200u

OF_CORE u8 linux_first;
OF_CORE static struct deadline look;
OF_CORE static u64 loan_end;  /* also if the deadline is late, behind others */
OF_CORE static u64 delay_end; /* of the RTOS that waits; 0: none does */

/* Behind this interrupt somebody looks who is to have the core, and finds out here what that ends:
 * the RTOS may be gone by then. */
static u64 look_expire(UNUSED struct deadline *deadline)
{
	vcpu_notify(core.current);
	return TIME_NEVER;
}

void loan_begin(void)
{
	EXPECTS_MASKED();
	linux_first |= LINUX_HAS_LOAN;
	loan_end = rdtsc() + time_tsc_khz / LOAN_RATE;
	deadline_set(&look, loan_end);
	vcpu_count(core.current, COUNTER_loans);
}

void delay_allow(bool allowed)
{
	linux_first &= (u8)~LINUX_IS_WAITED_FOR;
	linux_first |= allowed ? LINUX_IS_WAITED_FOR : 0;
}

static struct vcpu *loan_holder(struct vcpu *rtos)
{
	struct vcpu *holder = turn_at_work(&idle_vcpu);

	if (holder != &idle_vcpu && rdtsc() < loan_end && !vcpu_must_attend(rtos))
		return holder;
	linux_first &= (u8)~LINUX_HAS_LOAN;
	return rtos;
}

/* Returns whether the current vCPU holds spin locks for which an RTOS waits that has not begun. */
static bool locks_are_held(void)
{
	const struct vcpu *current = core.current;

	return current->priority == 0 && current != &idle_vcpu &&
	       current->state == VCPU_RUNNING && part_page_own()->of_rtos == 0 &&
	       current->vm->guest->delay_limit_us != 0 && current->shared->locks != 0;
}

static struct vcpu *delay_holder(struct vcpu *rtos)
{
	u64 now = rdtsc();

	if (!locks_are_held()) {
		delay_end = 0;
		return rtos;
	}
	if (delay_end == 0) {
		delay_end = now + (u64)core.current->vm->guest->delay_limit_us *
					  (time_tsc_khz / 1000);
		vcpu_count(rtos, COUNTER_delays);
	} else if (now >= delay_end) {
		delay_end = 0;
		vcpu_count(rtos, COUNTER_delay_limits);
		return rtos;
	}
	now += time_tsc_khz / LOOK_RATE;
	deadline_set(&look, now < delay_end ? now : delay_end);
	return core.current;
}

/* No RTOS wants the core: one that had lent it, or waited, was paused or stopped meanwhile. */
static void rtos_is_gone(void)
{
	delay_end = 0;
	if (!loan_runs())
		return;
	linux_first &= (u8)~LINUX_HAS_LOAN;
	tenure_ends();
}

struct vcpu *linux_holder(struct vcpu *first)
{
	if (first->priority != 0)
		return loan_runs() ? loan_holder(first) : delay_holder(first);
	rtos_is_gone();
	return first;
}

void loan_init(void)
{
	deadline_init(&look, look_expire, 0);
}
