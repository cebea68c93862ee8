/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's work for a vCPU with interrupts enabled. Exceptions and hypercalls of a Linux on a
 * shared CPU enter through trap gates. So an interrupt is served on the vCPU's VMM stack, from the
 * first instruction of the work on. A more urgent vCPU then gets the core at once, and the work
 * goes on when the core is free again, however long that takes.
 *
 * Some data belongs to the work alone, and may be half changed when an interrupt comes: the vCPU's
 * frame, system registers, descriptor tables, shadow page tables, the windows of memory.c and the
 * pool. Interrupt handlers, RTOSes and the idle vCPU do not touch these, but for descriptors of a
 * vCPU that is not at work (guests/x86/smp/kernel_watch.c). vcpu->working is not 0 while a vCPU is
 * interrupted at work. The VM is not taken down then, and the idle vCPU has the
 * core only if it has an RTOS to start: what it does for a vCPU that arrives, with windows, waits.
 *
 * Other data is shared with interrupt handlers: consoles, log, deadlines, the virtual interrupt
 * controller, the owner of the FPU and the state of every VM. Work touches these only behind
 * work_mask(). A function that relies on interrupts being masked or enabled says so at its head, by
 * EXPECTS_MASKED() or EXPECTS_UNMASKED() (masked_state.h), which the debug build checks.
 *
 * Whoever changes what the return to a guest depends on calls vcpu_notify(). entry.S looks at that
 * with interrupts disabled. tests/preemption has a model of all this.
 */
#pragma once

#include "arch.h"
#include "core/core.h"
#include "core/masked_sections.h"

/* Enables interrupts until work_mask(), if the vCPU's work is interruptible. */
static inline void work_unmask(const struct vcpu *vcpu)
{
	if (vcpu->interruptible)
		interrupts_enable();
}

/* Disables interrupts until the return to the guest, if they are not disabled already. A masked
 * section begins behind it, whose name is in the folder's masked_sections.h. */
#define work_mask(section) interrupts_disable(section)

/* Lets interrupts in for a moment, and more urgent vCPUs run, between the steps of a masked
 * operation. A masked section begins behind it.
 *
 * It does nothing where interrupts belong to the guest: there upcall_point() lets them in. It does
 * nothing either on the stack of a vCPU that a command has just taken down: the vCPU would be
 * released, and perhaps started again, before the rest of the operation is done. Nor does it where
 * so many interrupts have interrupted each other on this stack that it would have no room for
 * more. */
#define work_admit(section)                        \
	do {                                       \
		if (core_admits())                 \
			interrupts_admit(section); \
	} while (0)

/* Returns whether work_admit() would do nothing for one of the last two of these reasons. Who has
 * more to do then than a section has room for leaves it to an interrupt or to the idle vCPU. */
static inline bool work_must_end(void)
{
	return core.pauses && !core_admits();
}
