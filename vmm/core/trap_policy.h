/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "trap" (policy.h), SPUMONE's second remedy: the kernel of a Linux never runs on a core
 * with an RTOS, so that no RTOS takes a core from a vCPU that holds a lock. A vCPU leaves such a
 * core when a process enters its kernel there, and comes back when the kernel returns to a process.
 * If an RTOS takes the core from a process, the vCPU leaves for that as by the policy "on-demand"
 * (preemption.c), and comes back by the same rule.
 *
 * The guest's kind sees both ways of a vCPU that is watched (guests/x86/smp/kernel_watch.c). Each
 * system call then costs two moves, which is why other policies are worth more.
 */
#pragma once

#include "core/vm.h"
#include "lib/unit.h"

/* How the kind of a guest watches the kernel of a vCPU. */
struct kernel_watch {
	/* Begins to watch it, if its kernel can be entered yet, and goes on as long as
	 * trap_policy_enters() says so. Returns whether the vCPU is in its kernel now. Interrupts
	 * are masked. */
	bool (*begin)(struct vcpu *vcpu);
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
/* Returns whether the vCPU, which has left, comes back of its own accord. */
bool trap_policy_brings_back(const struct vm *vm);
/* The vCPU is about to leave this core since an RTOS has it. */
void trap_policy_departs(struct vm *vm);
/* An RTOS is done with this core, and the vCPUs that are here have this policy now. */
void trap_policy_begins(void);
/* The vCPU has come to this core. Linux's kernel is to have it before processes do. */
void trap_policy_arrives(const struct vm *vm);
