/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of frames of 4 KiB, of which shadow page tables, stacks and descriptor tables are
 * made. */
#pragma once

#include "arch/ia32/memory.h"
#include "lib/types.h"

/* Gives the pool its frames. base is a physical address and size is in bytes; both are multiples of
 * a large page. */
void pool_init(u32 base, u32 size);
/*
 * Returns the physical address of a zeroed frame, or 0 if none is left. The frame is zeroed here
 * and not when it is freed, so to free a frame costs next to nothing. Only groups of 128 bytes that
 * are marked are zeroed. All are marked when the frame is given out; a user who writes to few of
 * them may clear the marks and set them as he writes. On the idle vCPU more urgent guests run
 * between two groups.
 */
MUST_CHECK u32 pool_allocate(void);
/* Takes a frame back, by its physical address. */
void pool_free(u32 frame);
/* Zeroes a quarter of the frame that is allocated next, for callers that must not take long.
 * Returns true if that frame has at most one group left to zero, or if there is no frame. That is
 * so at the fifth call at the latest. */
MUST_CHECK bool pool_prepare(void);

/* The linear address of a frame minus its physical address. */
extern u32 pool_distance;

/* Returns where the VMM sees a frame of the pool. */
static inline void *pool_pointer(u32 frame)
{
	return (void *)(frame + pool_distance);
}

#define POOL_GROUP 128u
#define POOL_GROUPS (PAGE_SIZE / POOL_GROUP)
/* The marks: a bit for each group of the pool, 32 for a frame. */
#define pool_used ((u32 *)LAYOUT_POOL)

/* Returns the marks of a frame. Whoever clears marks calls pool_mark() for each group that he
 * writes to from then on. */
static inline u32 *pool_marks(u32 frame)
{
	return &pool_used[(frame + pool_distance - LAYOUT_POOL) >> PAGE_SHIFT];
}

/* Marks the group that an address of the pool lies in. */
static inline void pool_mark(const void *at)
{
	bit_set(pool_used, ((u32)at - LAYOUT_POOL) / POOL_GROUP);
}
/* How many frames the pool has, and how many of them are free. */
extern u32 pool_frames, pool_available;
/* Returns how many frames the list of free ones has. It takes 4 instructions for each. */
u32 pool_count(void);
/* Calls a function for each free frame. Debug builds use it. */
void pool_each_free(void (*visit)(u32 frame));
