/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "pull", our own: while an RTOS has a CPU, Linux has more vCPUs than CPUs, and no CPU
 * is to be idle or in vain as long as one of them waits. A vCPU whose turn ends goes to a CPU that
 * is idle, if there is one, instead of waiting for its next turn. And a vCPU that spins calls those
 * that wait for their turn on other CPUs: one of them holds the lock, or is next in its queue, and
 * has its turn at once. The other policies leave both to chance.
 */
#pragma once

#include "core/vm.h"

/* Returns an idle one of these CPUs, which are bits; this core: there is none. */
u32 pull_idle_cpu(u32 cpus);
/* A turn of the VM's vCPU has ended, and others wait for theirs. Interrupts are masked. */
void pull_turn_ends(struct vm *vm);
/* The VM's vCPU spins, and waits for one of its siblings. Interrupts are masked. */
void pull_spins(const struct vm *vm);
