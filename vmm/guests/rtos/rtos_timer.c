/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the timer of an RTOS: it has periods in microseconds that never drift from the time stamp
 * counter, and expiries that are counted, not queued, while the guest does not take them.
 */
#include "arch/ia32/cpu.h"
#include "core/hypercall.h"
#include "guests/rtos/rtos.h"
#include "lib/math.h"
#include "masked_state.h"

/* A thousandth in 2^32ths, rounded up, so that an expiry is never early. It is late by a millionth
 * of a tick after six periods. */
#define THOUSANDTH 4294968u

static u64 expiry_time(const struct rtos *rtos, u64 number)
{
	return rtos->start + multiply_divide(number * rtos->period, time_tsc_khz, 1000);
}

/* Returns the time of the expiry that follows the last one by a period. */
static inline u64 timer_next(struct rtos *rtos)
{
	return add_with_rest(&rtos->timer.time, &rtos->step, &rtos->rest, &rtos->step_rest);
}

APART void rtos_timer_resume(struct rtos *rtos)
{
	u64 elapsed = multiply_divide(rdtsc() - rtos->start, 1000, time_tsc_khz);
	u64 number = divide_u64(elapsed, rtos->period, NULL);
	u32 merged;

	/* The elapsed microseconds were rounded down, so the number may be one too small. */
	if ((s32)((u32)number - rtos->expiries) < 0)
		number += rtos->expiries - (u32)number;
	merged = (u32)number - rtos->expiries + 1;
	rtos->expiries = (u32)number;
	divide_u64((number + 1) * rtos->period, 1000, &rtos->rest);
	rtos->rest = rtos->rest * (time_tsc_khz % 1000) % 1000 * THOUSANDTH;
	rtos->overruns += merged;
	rtos->vcpu->counters[COUNTER_timer_overruns] += merged;
	deadline_set(&rtos->timer, expiry_time(rtos, number + 1));
}

/* Makes the timer's vector pending. If the guest has not taken the last expiry, the timer stops, so
 * that it costs nobody time; rtos_timer_resume() counts what has been missed when the guest takes
 * the one that waits. */
static u64 timer_expire(struct deadline *deadline)
{
	struct rtos *rtos = (struct rtos *)((u8 *)deadline - offsetof(struct rtos, timer));
	struct vcpu *vcpu = rtos->vcpu;

	EXPECTS_MASKED();
	rtos->expiries++;
	vcpu_count(vcpu, COUNTER_timer_expiries);
	if (vcpu->pending & TIMER_BIT)
		return TIME_NEVER;
	rtos_pend(vcpu, TIMER_BIT);
	rtos->due = deadline->time;
	return timer_next(rtos);
}

static u32 hypercall_timer(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	struct rtos *rtos = vcpu->rtos;
	u32 period = frame->ebx;

	if (period != 0 && (period < GANDALF_TIMER_MINIMUM || period > 1000000))
		return (u32)GANDALF_ERROR_ARGUMENT;
	vcpu->pending &= ~TIMER_BIT;
	rtos->period = period;
	rtos->start = rdtsc();
	rtos->expiries = rtos->overruns = 0;
	rtos->step = divide_u64((u64)period * time_tsc_khz, 1000, &rtos->rest);
	rtos->step_rest = rtos->rest *= THOUSANDTH;
	deadline_set(&rtos->timer, period != 0 ? expiry_time(rtos, 1) : TIME_NEVER);
	return 0;
}
HYPERCALL(GANDALF_HYPERCALL_TIMER, HYPERCALL_OF_RTOS, hypercall_timer);

void rtos_timer_init(struct rtos *rtos, u32 priority)
{
	deadline_init(&rtos->timer, timer_expire, priority);
}

void rtos_timer_stop(struct rtos *rtos)
{
	rtos->period = 0;
	deadline_set(&rtos->timer, TIME_NEVER);
}
