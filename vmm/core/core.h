/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One processor core and everything that its instance of the VMM may change.
 * Nothing in it is shared with another core, so nothing needs a lock.
 */
#pragma once

#include "abi/table.h"
#include "arch/ia32/cpu.h"
#include "core/vcpu.h"
#include "core/vm.h"

struct core {
	struct vcpu *current;
	u32 index;                /* of this core, from 0, which has booted the machine */
	u32 cr3;                  /* as loaded */
	struct vcpu *fpu_owner;   /* whose state is in the FPU; NULL: nobody's */
	struct vcpu *direct;      /* takes the core's interrupts itself; NULL: none */
	u32 vm_count;             /* guests of all cores */
	u32 vcpu_count;           /* of this core's guests */
	u32 remote_count;         /* guests of other cores, whose vCPUs stand at the end */
	u32 housekeeping;         /* work for the idle vCPU: HOUSEKEEPING_... */
	bool guests_started;      /* interrupts drain the console from here on */
	bool unusual;             /* vCPUs share a priority or have had breakpoints */
	bool interruptible;       /* the VMM's work for Linux lets interrupts in */
	bool pauses;              /* and other work does between its steps: not while they are a
				   * guest's (direct.c) */
};

extern struct core core;
extern struct vcpu vcpus[GANDALF_GUESTS_MAXIMUM];
extern struct vm vms[GANDALF_GUESTS_MAXIMUM];
/* Owns the boot stack; restarts guests, serves commands, sleeps. */
extern struct vcpu idle_vcpu;

/* Time stamps that a vCPU has spent running. */
static inline u64 core_ran(const struct vcpu *vcpu)
{
	return vcpu == core.current ? vcpu->ran + rdtsc() : vcpu->ran;
}
