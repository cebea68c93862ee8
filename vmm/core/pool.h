/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of frames from which shadow page tables, stacks and descriptor tables are made.
 */
#pragma once

#include "arch/ia32/memory.h"
#include "lib/types.h"

/* Gives the pool its frames; base and size are multiples of a large page. */
void pool_init(u32 base, u32 size);
/*
 * A zeroed frame, its physical address, or 0 when none is left. What was used of it is
 * zeroed again when it is next allocated, 128 bytes at a time: all of it, unless the user
 * marked them. On the idle vCPU more urgent ones run between. So freeing costs next to
 * nothing, whatever was in the frame.
 */
MUST_CHECK u32 pool_allocate(void);
void pool_free(u32 frame);
/* Zeroes some of the frame that is allocated next. true: it has little left to zero, or there is
 * none, which is so at the fourth call at the latest. */
MUST_CHECK bool pool_prepare(void);

/* From a frame's physical address to its linear one. */
extern u32 pool_distance;

/* The contents of a frame of the pool. */
static inline void *pool_pointer(u32 frame)
{
	return (void *)(frame + pool_distance);
}

#define POOL_GROUP 128u
#define POOL_GROUPS (PAGE_SIZE / POOL_GROUP)
/* A bit for each 128 bytes of the pool, 32 for a frame. */
#define pool_used ((u32 *)LAYOUT_POOL)

/* Those of a frame. Whoever clears some that are set calls pool_mark() for what he uses
 * from then on. */
static inline u32 *pool_marks(u32 frame)
{
	return &pool_used[(frame + pool_distance - LAYOUT_POOL) >> PAGE_SHIFT];
}

static inline void pool_mark(const void *at)
{
	bit_set(pool_used, ((u32)at - LAYOUT_POOL) / POOL_GROUP);
}
/* Frames of the pool, and those that are free. */
extern u32 pool_frames, pool_available;
/* The free ones, by walking the list: 4 instructions for each. */
u32 pool_count(void);
/* Names each of them; for debug builds. */
void pool_each_free(void (*visit)(u32 frame));
