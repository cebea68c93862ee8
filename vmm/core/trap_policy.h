/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "trap" (policy.h), SPUMONE's second remedy: the kernel of a Linux does not run on a
 * core with an RTOS, so that no RTOS takes a core from a vCPU that holds a lock. A vCPU leaves such
 * a core when a process enters its kernel there, and comes back when the kernel returns to a
 * process. If an RTOS takes the core from a process, the vCPU leaves for that as by the policy
 * "on-demand" (preemption.c), and comes back by the same rule.
 *
 * The guest's kind sees both ways of a vCPU that is watched (guests/x86/smp/kernel_watch.c). A
 * watch begins when an RTOS is done with the core, or about to have the vCPU leave it. A kernel
 * that has been at work since before, that cannot leave since every other core is an RTOS's, or
 * that was moved by hand, is on the RTOS's core until the next entry or end of an RTOS's turn.
 *
 * Each system call costs two moves, which is why other policies are worth more.
 */
#pragma once

#include "core/vm.h"
#include "lib/unit.h"

/* How the kind of a guest watches the kernel of a vCPU. Interrupts are masked. */
struct kernel_watch {
	/* Begins to, if the kernel can be entered yet, or goes on. That ends when
	 * trap_policy_enters() says so. */
	void (*begin)(struct vcpu *vcpu);
	/* Returns whether the vCPU is watched and in its kernel. */
	bool (*in_kernel)(const struct vcpu *vcpu);
};

/* Offers a watch. It is used at file scope, once. */
#define KERNEL_WATCH(name) UNIT(kernel_watches, struct kernel_watch, name)
UNITS(kernel_watches, struct kernel_watch);

/* What is to be watched of a vCPU, as bits: each entry into its kernel, and its kernel's next
 * return to a process. */
enum { WATCH_ENTRIES = 1, WATCH_RETURN = 2 };

/* A vCPU that is watched has entered its kernel from a process, here. Returns what is to be watched
 * from now on. Interrupts are masked, as for the others. */
u32 trap_policy_enters(struct vm *vm);
/* The return of its kernel to a process, which was to be watched, is done. */
void trap_policy_returns(struct vm *vm);
/* The vCPU begins a life here, in its kernel. Returns what is to be watched. */
u32 trap_policy_starts(const struct vm *vm);
/* An RTOS is done with this core, and the vCPUs that are here have this policy now. */
void trap_policy_begins(void);
/* The vCPU is about to leave this core since an RTOS has it. */
void trap_policy_departs(struct vm *vm);
/* Returns whether the vCPU, which has left, comes back of its own accord. */
bool trap_policy_brings_back(const struct vm *vm);
/* The vCPU has come to this core. Its kernel is to have it before processes do. */
void trap_policy_arrives(const struct vm *vm);
