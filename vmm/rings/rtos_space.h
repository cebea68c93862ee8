/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says where an RTOS's memory is for it, where rings are used: its segments begin where that is
 * mapped in every address space, and their limits keep it in. So there is no address space to make
 * or to load. two_level/rtos_space.h is the other one.
 */
#pragma once

#include "core/vm.h"

/* Serves a page fault of an RTOS, which is as good as any other exception. */
#define RTOS_SPACE_PAGE_FAULT rtos_trap

/* Makes the address space of a new RTOS. Returns false if the pool is empty. */
static inline bool rtos_space_create(UNUSED struct vm *vm)
{
	return true;
}

/* Is called before the RTOS starts. */
static inline void rtos_space_start(UNUSED struct vcpu *vcpu)
{
}

/* Return the base of the RTOS's segments, and their limit in bytes. size: bytes of its memory and
 * of its channels. */
static inline u32 rtos_space_base(const struct vm *vm)
{
	return vm->linear;
}

static inline u32 rtos_space_limit(u32 size)
{
	return size - 1;
}
