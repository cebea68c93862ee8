/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the state of a processor core that no vCPU or VM owns. It is not shared with another core,
 * so it needs no lock.
 */
#pragma once

#include "abi/table.h"
#include "arch/ia32/cpu.h"
#include "core/vcpu.h"
#include "core/vm.h"

/* Bits of core.unusual. vCPUs share a priority, move, or have had breakpoints or TSD, once and for
 * all; and between two messages that are taken (message.c), until the switch or what follows. */
#define SWITCH_OF_SOME 1u
#define SWITCH_AMID_MESSAGES 2u

struct core {
	struct vcpu *current;     /* the vCPU that has the core, perhaps the idle one */
	u32 index;                /* of this core; core 0 has booted the machine */
	struct core_processor;    /* the architecture's part (arch/ia32/state.h) */
	struct vcpu *direct;      /* who takes the core's interrupts itself; NULL: nobody */
	u32 vm_count;             /* the guests of all cores */
	u32 vcpu_count;           /* the vCPUs of this core's guests, without the idle one */
	u32 remote_count;         /* the guests of other cores, whose vCPUs stand at the end */
	u32 housekeeping;         /* work that waits for the idle vCPU: HOUSEKEEPING_... */
	bool guests_started;      /* guests may run, and interrupts drain the consoles */
	u8 unusual;               /* a switch has more to do: SWITCH_... */
	bool interruptible;       /* the VMM's work for Linux lets interrupts in */
	bool pauses;              /* masked work lets interrupts in between its steps; it must
				   * not while they belong to a guest (direct.c) */
};

extern struct core core;
extern struct vcpu vcpus[PLACES_MAXIMUM];
extern struct vm vms[PLACES_MAXIMUM];
/* The vCPU of the VMM itself, on the boot stack (idle.h). */
extern struct vcpu idle_vcpu;

/* Returns whether work that is masked, or the handler of an interrupt, may let other interrupts in
 * (work_admit() in work.h says when). */
MUST_CHECK bool core_admits(void);

/* Returns for how many ticks of the time stamp counter a vCPU has had the core. */
static inline u64 core_ran(const struct vcpu *vcpu)
{
	return vcpu == core.current ? vcpu->ran + rdtsc() : vcpu->ran;
}
