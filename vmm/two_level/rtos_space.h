/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address space of an RTOS where all guests are in ring 3. It has a page directory of its own,
 * in which its memory begins at address 0 as user pages, and in which nothing else is but what is
 * the VMM's alone. So its segments are flat, and nothing rests on their limits. The VMM reaches the
 * same memory where it is mapped for the VMM in every address space (memory_map_rtos()), so no
 * linear address ever means two things, and an entry of the TLB that is global is right everywhere.
 *
 * It costs a load of CR3 each time that the RTOS gets the CPU and each time that another vCPU gets
 * it back, and a directory and a page table for each 4 MiB of memory. rings/rtos_space.h is the
 * other one.
 */
#pragma once

#include "core/vm.h"

/* Serves a page fault of an RTOS. */
#define RTOS_SPACE_PAGE_FAULT rtos_space_page_fault
void rtos_space_page_fault(struct vcpu *vcpu, struct frame *frame);

/* Makes the address space of a new RTOS, whose memory and channels are mapped for the VMM already.
 * Returns false if the pool is empty. */
MUST_CHECK bool rtos_space_create(struct vm *vm);
/* Completes the space before the RTOS starts, when all that the VMM maps for itself is there. */
void rtos_space_start(struct vcpu *vcpu);

/* Return the base of the RTOS's segments, and their limit in bytes. size: bytes of its memory and
 * of its channels. */
static inline u32 rtos_space_base(UNUSED const struct vm *vm)
{
	return 0;
}

static inline u32 rtos_space_limit(UNUSED u32 size)
{
	return UINT32_MAX;
}
