/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch between vCPUs: descriptor tables, debug registers, address space,
 * VMM stack. General registers and segments are in the frames.
 */
#pragma once

#include "core/core.h"
#include "ia32/debug.h"
#include "ia32/segment.h"

/*
 * Saves the one VMM stack and goes on where the other was left, with its CR3 unless
 * that is 0. On the stack of a vCPU that is switched out, highest address first:
 *	ebp
 *	where it goes on	<- saved_esp
 * A new one has entry_return there, below its frame.
 */
static inline void switch_stack(struct vcpu *from, struct vcpu *to, u32 cr3)
{
	__asm__ volatile("push %%ebp; push $1f; mov %%esp, %c[saved_esp](%0)\n"
			 "test %2, %2; jz 2f; mov %2, %%cr3\n"
			 "2: mov %c[saved_esp](%1), %%esp; ret\n"
			 "1: pop %%ebp"
			 : "+a"(from), "+d"(to), "+c"(cr3)
			 : [saved_esp] "i"(offsetof(struct vcpu, saved_esp))
			 : "ebx", "esi", "edi", "memory", "cc");
}

/* Runs to; returns when from is switched to again. An RTOS runs in whatever address space is
 * loaded, since all of them map it: switching to it costs no CR3 load. */
static inline void switch_vcpu(struct vcpu *from, struct vcpu *to)
{
	u32 cr3 = 0;

	if (to->cr3 != 0 && to->cr3 != core.cr3) {
		cr3 = to->cr3;
		core.cr3 = cr3;
	}
	core.current = to;
	segment_load(to);
	if ((to->dr[7] | from->dr[7]) & DEBUG_ENABLES)
		debug_switch(to);
	switch_stack(from, to, cr3);
}

/* Gives the vCPU a VMM stack whose first switch goes straight to its frame,
 * which is zeroed and returned. */
struct frame *switch_prepare(struct vcpu *vcpu);
/* Allocates the VMM stack; false if the pool is empty. */
bool switch_create(struct vcpu *vcpu);
/* Leaves the address space of a vCPU whose shadow is about to be freed. */
void switch_leave_space(const struct vcpu *vcpu);
