/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the VMM keeps of an RTOS: the handlers that it has named, and its timer.
 */
#pragma once

#include "core/time.h"
#include "core/vm.h"

/* The vectors that can be pending follow each other. Each has a bit of vcpu->pending. */
#define PENDING_BIT(vector) (1u << ((vector) - GANDALF_VECTOR_IRQ))
#define TIMER_BIT PENDING_BIT(GANDALF_VECTOR_TIMER)
#define CONSOLE_BIT PENDING_BIT(GANDALF_VECTOR_CONSOLE)

struct rtos {
	u32 handlers[GANDALF_VECTORS];
	u32 channel_bytes; /* size of the channels that are mapped behind its memory */
	struct deadline timer;
	struct vcpu *vcpu;
	u64 start;      /* time stamp when the timer was started */
	u64 step;       /* a period in ticks; step_rest has its fraction in 2^32ths */
	u32 step_rest;
	u32 rest;       /* fraction of a tick, in 2^32ths, by which the expiry exceeds timer.time */
	u64 due;        /* the expiry that waits to be delivered */
	u32 period;     /* microseconds; 0: stopped */
	u32 expiries, overruns; /* expiries since start, and how many of them were merged */
};

static inline void rtos_pend(struct vcpu *vcpu, u32 bit)
{
	vcpu->pending |= bit;
	vcpu_notify(vcpu);
}

/* Restarts the timer, which stopped when an expiry came while the last one still waited. All
 * expiries up to now are merged into the one that is delivered now. */
void rtos_timer_resume(struct rtos *rtos);
/* Sets up the timer of a new guest. It is stopped, and will expire with the guest's priority. */
void rtos_timer_init(struct rtos *rtos, u32 priority);
void rtos_timer_stop(struct rtos *rtos);
