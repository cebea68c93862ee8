/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the VMM keeps of an RTOS: the handlers that it has named, and its timer.
 */
#pragma once

#include "core/time.h"
#include "core/vm.h"

/* The vectors that can wait follow each other: bits of vcpu->pending. */
#define PENDING_BIT(vector) (1u << ((vector) - GANDALF_VECTOR_IRQ))
#define TIMER_BIT PENDING_BIT(GANDALF_VECTOR_TIMER)
#define CONSOLE_BIT PENDING_BIT(GANDALF_VECTOR_CONSOLE)

struct rtos {
	u32 handlers[GANDALF_VECTORS];
	struct deadline timer;
	struct vcpu *vcpu;
	u64 start;      /* of the timer, time stamp */
	u64 step;       /* ticks of a period, and 2^32ths of one */
	u32 step_rest;
	u32 rest;       /* that the next expiry lies behind its tick, in 2^32ths */
	u64 due;        /* the expiry that waits to be delivered */
	u32 period;     /* microseconds; 0: stopped */
	u32 expiries, overruns; /* since then; merged of these */
};

static inline void rtos_pend(struct vcpu *vcpu, u32 bit)
{
	vcpu->pending |= bit;
	vcpu_notify(vcpu);
}

/* An expiry came while the last one waited, and the timer rests since then: all expiries up to
 * now are merged into the one that is delivered now. */
void rtos_timer_resume(struct rtos *rtos);
/* At its creation: the timer is stopped, and expires with the guest's priority. */
void rtos_timer_init(struct rtos *rtos, u32 priority);
void rtos_timer_stop(struct rtos *rtos);
