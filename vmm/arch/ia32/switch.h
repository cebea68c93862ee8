/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch between vCPUs: descriptor tables, debug registers, address space,
 * VMM stack. General registers and segments are in the frames.
 */
#pragma once

#include "arch/ia32/segment.h"
#include "core/core.h"

/* Runs to; returns when from is switched to again; debug_load() comes before. An RTOS runs in
 * whatever address space is loaded, since all of them map it: switching to it costs no CR3 load. */
static inline void switch_vcpu(struct vcpu *from, struct vcpu *to)
{
	u32 cr3 = 0;

	if (to->cr3 != 0 && to->cr3 != core.cr3)
		core.cr3 = cr3 = to->cr3;
	core.current = to;
	segment_load(to);
	switch_stack(from, to, offsetof(struct vcpu, saved_esp), cr3);
}

/* Gives the vCPU a VMM stack whose first switch goes straight to its frame,
 * which is zeroed and returned. */
struct frame *switch_prepare(struct vcpu *vcpu);
/* Allocates the VMM stack; false if the pool is empty. */
MUST_CHECK bool switch_create(struct vcpu *vcpu);
/* The vCPU's frame where every address space has it; where it runs itself, vcpu->frame is. */
struct frame *switch_frame(const struct vcpu *vcpu);
/* Gives the present stack up for the boot stack, and the present address space for the VMM's
 * own, in which nothing of a guest is mapped but the RTOSes; what is called there does not
 * return. */
_Noreturn void switch_to_boot_stack(void (*function)(void));
/* Leaves the address space of a vCPU whose shadow is about to be freed. */
void switch_leave_space(const struct vcpu *vcpu);
