/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's work for a vCPU with interrupts enabled. Exceptions and hypercalls of
 * a Linux on a shared CPU enter through trap gates: from its first instruction on
 * an interrupt is served on the vCPU's VMM stack, and a more urgent vCPU gets the
 * core at once; the work goes on when the core is free again, whenever that is.
 *
 * What belongs to the vCPU alone may be half changed meanwhile: its frame,
 * system registers, descriptor tables, shadow page tables, the windows of
 * memory.c, the pool. Interrupt handlers, RTOSes and the idle vCPU leave those
 * alone: vcpu->working says so while the vCPU is interrupted there, and then the
 * idle vCPU does nothing but start RTOSes and the VM is not taken down. What interrupt handlers
 * share (consoles, log, deadlines, the virtual interrupt controller, timers and
 * UART, the owner of the FPU, every VM's state) is touched behind work_end() only.
 *
 * A function that relies on it says at its head whether interrupts are masked: EXPECTS_MASKED(),
 * EXPECTS_OPEN() (masked_state.h), which the debug build asserts.
 *
 * Whoever changes what the return to a guest depends on calls vcpu_notify(), whose word
 * entry.S reads with interrupts disabled. tests/preemption has the model.
 */
#pragma once

#include "arch.h"
#include "core/core.h"

/* Enables interrupts, if the vCPU is one to work for like that, until work_end(). */
static inline void work_begin(const struct vcpu *vcpu)
{
	if (vcpu->interruptible)
		interrupts_enable();
}

/* Disables them for good: until the return to the guest. Harmless if they are. What is behind it is
 * a masked section, whose name is in core/masked.h. */
#define work_end(section) interrupts_disable(section)

/* Lets interrupts in for a moment, and more urgent vCPUs run: between the steps
 * of an operation that is masked otherwise. Not where the guest owns the gates: there
 * upcall_point() does, for the guest's own. Nor on the stack of a vCPU that has just been taken
 * down, by a command: it would be released, and perhaps started again, amid what is left to do.
 * A masked section begins behind it. */
#define work_pause(section)                                                   \
	do {                                                                  \
		if (core.pauses && core.current->state == VCPU_RUNNING)       \
			interrupts_admit(section);                                 \
	} while (0)
