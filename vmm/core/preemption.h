/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done against lock-holder preemption: an RTOS takes the core from a vCPU of Linux that
 * holds a spin lock, and its siblings on other cores spin until the RTOS is done. By the policy
 * "on-demand" the vCPU leaves for another core when an RTOS has had this one for 50 microseconds,
 * and comes back when no RTOS has had it for as long. So an RTOS that is done sooner moves nobody.
 *
 * The RTOS has begun by then: the vCPU's departure is an interrupt of the RTOS's work, as a
 * message of another core is, and no part of its dispatch, which costs one deadline more.
 *
 * The vCPU leaves between two pieces of the VMM's work for it only. One that an RTOS has
 * interrupted in the midst of such work stays until the RTOS is done: also one that interrupts
 * several siblings, since interrupts are let in behind each (guests/x86/smp/ipi.c).
 */
#pragma once

#include "core/vm.h"

/* Has this core watch over vCPUs of a guest, before any of them runs: for how long they wait, and,
 * if they move, that a policy is followed. */
void preemption_watch(bool moves);
