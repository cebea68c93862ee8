/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells who was interrupted. The place of the frame tells, and the selector that only the VMM
 * loads; bits of a word that may be another word do not. The CPU pushes a guest's frame at the top
 * of the VMM stack of the vCPU that runs, and nowhere else. A frame of the VMM itself lies further
 * down, or on the idle vCPU's stack, and names the VMM's code segment.
 *
 * A frame that is neither has one of two causes. A guest that has the CPU's interrupt controllers
 * can have them interrupt by an exception's vector; the CPU then pushes no error code where the VMM
 * expects one. Or the frame comes from virtual-8086 mode, which QEMU lets a guest enter: the CPU
 * pushes four words more then, and a CS that is no selector. A real CPU enters that mode from ring
 * 0 only.
 */
#pragma once

#include "arch/ia32/layout.h"
#include "core/core.h"

/* Returns whether the frame is that of the guest that runs. This question and the next cost two
 * instructions each, in every entry. */
static inline bool origin_is_guest(const struct vcpu *vcpu, const struct frame *frame)
{
	return frame == vcpu->frame;
}

/* Returns whether a frame that is not the guest's is the VMM's own. Where the error code is
 * missing, EFLAGS lies in the place of CS; bit 1 is set in EFLAGS always, in this selector
 * never. */
static inline bool origin_is_vmm(const struct frame *frame)
{
	return (u16)frame->cs == SELECTOR_VMM_CODE && (frame->eflags & EFLAGS_VM) == 0;
}

/* Serves any other frame. If a guest can have caused it, the frame is repaired, the guest gets an
 * exception or is stopped, and that guest or another one goes on. If not, the VMM panics. */
_Noreturn void origin_mend(struct frame *frame);

/* Finds out whether what looks like an exception of the VMM is an interrupt, from the controllers
 * of a guest that has the CPU to itself. Returns true if it is, and has stopped that guest. Returns
 * false if it is an exception, since no such guest lets interrupts in here. */
bool origin_is_stray_interrupt(const struct frame *frame);
