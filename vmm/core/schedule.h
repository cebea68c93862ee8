/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which vCPU has the core: the runnable one of the highest priority, always;
 * those of the same priority take turns of a millisecond.
 * Linux has priority 0. When the idle vCPU has work it comes before Linux, but not in
 * the middle of the VMM's work for it, and has the priority of an RTOS that it is to
 * start; otherwise it comes last.
 */
#pragma once

#include "core/vcpu.h"

#define HOUSEKEEPING_RELEASE 1u
#define HOUSEKEEPING_START 2u
#define HOUSEKEEPING_COMMAND 8u
/* While work goes on: it keeps its place before Linux. */
#define HOUSEKEEPING_BUSY 4u

void schedule_init(void);
/* Adds a vCPU; called in the order of priority, highest first. */
void schedule_add(struct vcpu *vcpu);
/* Returns when the caller's vCPU is the one to run; true if others ran meanwhile. */
MUST_CHECK bool schedule_gives_way(void);
/* Where that makes no difference. */
static inline void schedule(void)
{
	if (schedule_gives_way())
		return;
}
/* Whether it could run, but another has the CPU. */
bool schedule_waits(struct vcpu *vcpu);
/* Lets interrupts in and more urgent vCPUs run; for long work of the idle vCPU. */
void schedule_breathe(void);
/* Asks the idle vCPU for work. */
void schedule_housekeeping(u32 work);
