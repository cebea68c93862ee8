/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how directories and page tables are divided: into entries, the kernel half and what lies
 * below, and the parts that long work takes one at a time.
 */
#pragma once

#include "core/pool.h"

#define ENTRIES 1024u
/* The first address of the kernel half, as Linux divides its address space. */
#define SHADOW_KERNEL 0xc0000000u
/* The first directory entry of the kernel half, and the one behind its last. */
#define KERNEL_FIRST (SHADOW_KERNEL >> LARGE_PAGE_SHIFT)
#define KERNEL_END ((u32)LAYOUT_DIRECTORY_FIRST)
/* The number of directory entries that a bit of space.used_groups stands for. So many are released
 * before others are let run. */
#define GROUP 8u
/* The number of entries that share one of the pool's marks. Long work takes so many at a time. */
#define PART (POOL_GROUP / sizeof(u32))

/* How many entries around a page fault are filled with it. It is a power of two. */
#define PREFILL 16u
/* Entries that are filled together must share a mark, since pool_mark() is called for one only. */
_Static_assert(PART % PREFILL == 0, "the entries near a page have its mark");

static inline u32 directory_index(u32 linear)
{
	return linear >> LARGE_PAGE_SHIFT;
}

static inline u32 table_index(u32 linear)
{
	return (linear >> PAGE_SHIFT) % ENTRIES;
}
