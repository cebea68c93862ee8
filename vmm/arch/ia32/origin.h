/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who was interrupted. An entry is told by where its frame lies and by the selector that the VMM
 * itself loads, never by bits of a word that may be another one: the CPU pushes a guest's frame
 * at the top of the VMM stack of the vCPU that runs, and nowhere else. The VMM's own lies
 * further down, or on the idle vCPU's stack, and names the VMM's code segment.
 *
 * What is neither comes from a guest that has the CPU's interrupt controllers, which may interrupt
 * by an exception's vector (the CPU then pushes no error code where the VMM expects one), or from
 * virtual-8086 mode, which QEMU lets a guest enter: there the CPU pushes four words more, and a CS
 * that is no selector. A real CPU enters that mode from ring 0 only.
 */
#pragma once

#include "arch/ia32/layout.h"
#include "core/core.h"

/* The two questions cost two instructions each, in every entry. */
static inline bool origin_is_guest(const struct vcpu *vcpu, const struct frame *frame)
{
	return frame == vcpu->frame;
}

/* Of a frame that is not the guest's. EFLAGS takes the place of CS where a word is missing, and has
 * a bit set that this selector lacks. */
static inline bool origin_is_vmm(const struct frame *frame)
{
	return (u16)frame->cs == SELECTOR_VMM_CODE && (frame->eflags & EFLAGS_VM) == 0;
}

/* Of any other frame: a guest's is made what it should have been, and the guest that did it gets
 * an exception or is stopped; then that guest goes on, or whoever runs instead. Where no guest
 * can have done it, the VMM panics. */
_Noreturn void origin_mend(struct frame *frame);

/* An interrupt came to the VMM by the vector of an exception, from the controllers of a guest that
 * has the CPU to itself: that guest is stopped. false: no such guest lets interrupts in here, so it
 * is an exception. */
bool origin_is_stray_interrupt(const struct frame *frame);
