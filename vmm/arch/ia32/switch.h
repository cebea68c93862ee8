/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch between vCPUs: descriptor tables, address space and VMM stack are loaded.
 * General registers and segments are in the frames, which the return to a guest pops.
 */
#pragma once

#include "arch/ia32/segment.h"
#include "core/core.h"
#include "privilege.h"

/* Runs the vCPU to, and returns when from is switched to again. The caller has loaded the debug
 * registers before if they are used (processor_prepare()). Where rings are used an RTOS runs
 * in whatever address space is loaded, since all of them map it, so that switching to it costs no
 * CR3 load. */
static inline void switch_vcpu(struct vcpu *from, struct vcpu *to)
{
	u32 cr3 = 0;

	if (to->cr3 != 0 && to->cr3 != core.cr3) {
		core.cr3 = cr3 = to->cr3;
		privilege_leave_space();
	}
	core.current = to;
	segment_load(to);
	switch_stack(from, to, offsetof(struct vcpu, saved_esp), cr3);
	privilege_enter_space();
}

/* Has the vCPU, for which the VMM works, go on in another page directory. An interrupt may come
 * between any two of these steps, and switch_vcpu() give the core away and back: it must then find
 * the new directory in the vCPU before it finds it in core. */
static inline void switch_directory(struct vcpu *vcpu, u32 directory)
{
	vcpu->cr3 = directory;
	order_for_handlers();
	core.cr3 = directory;
	cr3_write(directory);
}

/* Prepares the vCPU's VMM stack so that the first switch to it goes straight to its frame.
 * Returns the frame, zeroed, at an address that every address space has. */
struct frame *switch_prepare(struct vcpu *vcpu);
/* Allocates the VMM stack. Returns false if the pool is empty, or if the two frames of a stack that
 * is used where the pool is mapped do not follow each other. */
MUST_CHECK bool switch_create(struct vcpu *vcpu);
/* Returns the vCPU's frame at an address that every address space has. vcpu->frame is valid in the
 * vCPU's own spaces only. */
struct frame *switch_frame(const struct vcpu *vcpu);
/* Gives up the present stack for the boot stack, and the present address space for the VMM's own,
 * in which nothing of a guest is mapped but RTOSes. Calls a function there, which must not
 * return. */
_Noreturn void switch_to_boot_stack(void (*function)(void));
/* Loads the VMM's own address space if the vCPU's is loaded, because its shadow is to be freed. */
void switch_leave_space(const struct vcpu *vcpu);
