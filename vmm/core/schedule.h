/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler decides which vCPU has the core. It is always the runnable one of the highest
 * priority; vCPUs of the same priority take turns of a millisecond. Linux has priority 0;
 * several vCPUs of one take turns as long as its description says. The idle vCPU comes last if
 * it has no work. With work it comes before Linux, but not in the middle of the VMM's work for
 * Linux, and with an RTOS to start it has the priority of that RTOS.
 */
#pragma once

#include "core/vcpu.h"
#include "whole.h"

/* Work for the idle vCPU, as bits: to log and free what guests have left, to start guests, and to
 * answer commands. */
#define HOUSEKEEPING_RELEASE 1u
#define HOUSEKEEPING_START 2u
#define HOUSEKEEPING_COMMAND 8u
/* Is set while the idle vCPU is at work, so that it keeps its place before Linux. */
#define HOUSEKEEPING_BUSY 4u
/* Is set, too, if that work may be to start guests. */
#define HOUSEKEEPING_STARTING (HOUSEKEEPING_START << 3)

void schedule_init(void);
/* Adds a vCPU. Those of higher priority must have been added before. */
void schedule_add(struct vcpu *vcpu);
/* Lets a more urgent vCPU run, if there is one. It returns when the caller's vCPU is the one to
 * run, perhaps long after. Returns true if others ran meanwhile. */
MUST_CHECK bool schedule_gives_way(void);
/* Does the same for a caller to which that makes no difference. */
static inline void schedule(void)
{
	if (schedule_gives_way())
		return;
}
/* Does the same for a vCPU on its way back to its guest. Returns true if interrupts have been let
 * in behind that, of which it has to look at one: it may have to halt, or its turn is over. */
MUST_CHECK static inline bool schedule_for_return(const struct vcpu *vcpu)
{
	return schedule_gives_way() && turn_returns(vcpu);
}
/* Ends the current vCPU's turn, if it takes turns. The others have theirs at the next return to a
 * guest. Interrupts are masked. */
void schedule_yield(void);
/* Puts a vCPU before the others of its priority, but behind those whose kernel is away from an
 * RTOS's core (trap_policy.h). */
void schedule_prefer(struct vcpu *vcpu);
/* Returns whether a vCPU could run, but another one has the core. */
bool schedule_waits(struct vcpu *vcpu);
/* Lets interrupts in and more urgent vCPUs run. It is for long work, mostly of the idle vCPU. */
void schedule_admit(void);
/* Lets interrupts in, whose handlers let more urgent vCPUs run. It is for steps of the idle vCPU
 * that make nobody able to run: there a search for who could, as schedule_admit() has one, is in
 * vain. */
void schedule_pause(void);
/* Asks the idle vCPU for work: bits HOUSEKEEPING_... */
void schedule_housekeeping(u32 work);
