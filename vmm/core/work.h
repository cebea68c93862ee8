/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's work for a vCPU with interrupts enabled. An interrupt is served on
 * the vCPU's VMM stack, and a more urgent vCPU gets the core at once; the work
 * goes on when the core is free again, whenever that is.
 *
 * What belongs to the vCPU alone may be half changed meanwhile: its frame,
 * system registers, descriptor tables, shadow page tables, the windows of
 * memory.c, the pool. Interrupt handlers, RTOSes and the idle vCPU leave those
 * alone: while a vCPU works, the idle vCPU does not run and the VM is not taken
 * down. What interrupt handlers share (consoles, log, deadlines, the virtual
 * interrupt controller, timers and UART, the owner of the FPU, every VM's
 * state) is touched behind work_end() only. tests/preemption has the model.
 */
#ifndef GANDALF_CORE_WORK_H
#define GANDALF_CORE_WORK_H

#include "core/core.h"
#include "ia32/cpu.h"

/* Enables interrupts until work_end(). */
static inline void work_begin(struct vcpu *vcpu)
{
	if (!vcpu->interruptible)
		return;
	vcpu->working = true;
	sti();
}

/* Disables them for good: until the return to the guest. Harmless if they are. */
static inline void work_end(struct vcpu *vcpu)
{
	cli();
	vcpu->working = false;
}

/* Lets interrupts in for a moment, and more urgent vCPUs run: between the steps
 * of an operation that is masked otherwise. */
static inline void work_pause(struct vcpu *vcpu)
{
	if (!core.interruptible)
		return;
	vcpu->working = true;
	sti_nop_cli();
	vcpu->working = false;
}

#endif
