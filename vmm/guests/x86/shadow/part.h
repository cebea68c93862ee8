/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How directories and page tables are divided: into entries, the VMM's and the guest's halves, and
 * the parts that long work takes one at a time. The layout of a space is space.h's.
 */
#pragma once

#include "core/pool.h"

#define ENTRIES 1024u
/* From here on an address is of the kernel's half, as Linux divides its address space. */
#define SHADOW_KERNEL 0xc0000000u
/* Directory entries of the kernel half: first, and behind the last. */
#define KERNEL_FIRST (SHADOW_KERNEL >> LARGE_PAGE_SHIFT)
#define KERNEL_END ((u32)LAYOUT_DIRECTORY_FIRST)
/* Directory entries that a bit of space.used_groups stands for, and that are released
 * between two looks at more urgent guests. */
#define GROUP 8u
/* Pages whose entries lie in one group of the pool's marks; long work looks at them together. */
#define PART (POOL_GROUP / sizeof(u32))

static inline u32 directory_index(u32 linear)
{
	return linear >> LARGE_PAGE_SHIFT;
}

static inline u32 table_index(u32 linear)
{
	return (linear >> PAGE_SHIFT) % ENTRIES;
}
