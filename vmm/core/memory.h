/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory as the VMM reaches it: windows on any frame, copies, and the
 * pool of frames from which shadow page tables, stacks and descriptor tables
 * are made. All physical addresses are machine addresses in bytes.
 */
#pragma once

#include "arch/ia32/cpu.h"
#include "arch/ia32/layout.h"
#include "lib/types.h"

/* The VMM's own page directory, which maps itself, the pool and the RTOSes; in
 * use whenever no Linux guest's shadow is. */
extern u32 memory_directory[1024];

/* Turns the boot page directory into memory_directory as it stays: removes the
 * identity mapping, installs the windows. */
void memory_init(void);

#define MEMORY_WINDOWS 1024u

/* What each window shows. */
extern u32 memory_windows[MEMORY_WINDOWS];

/* Changes what one shows. */
void memory_window_move(u32 slot, u32 entry);

/* A pointer to a frame of physical memory; valid until the next window on another frame
 * whose number is equal modulo 1024, so not kept across calls. A hit costs
 * about seven instructions, a miss an INVLPG more. */
static inline void *memory_window_frame(u32 frame)
{
	u32 slot = (frame >> PAGE_SHIFT) % MEMORY_WINDOWS;
	u32 entry = frame | PTE_P | PTE_A | PTE_D;

	if (memory_windows[slot] != entry)
		memory_window_move(slot, entry);
	return (void *)(LAYOUT_WINDOWS + (slot << PAGE_SHIFT));
}

/* Copies or zeroes any number of bytes; the ranges of a copy may overlap. */
void memory_copy(u32 to, u32 from, u32 size);
void memory_copy_in(void *to, u32 from, u32 size);
void memory_copy_out(u32 to, const void *from, u32 size);
void memory_zero(u32 physical, u32 size);

/* Maps the memory of an RTOS behind LAYOUT_RTOS, in all address spaces, between
 * pages that stay unmapped: should segment limits fail, as in QEMU, the next page
 * does not. Returns its linear address. */
u32 memory_map_rtos(u32 physical, u32 size);
/* Maps more right behind the last. */
u32 memory_map_more(u32 physical, u32 size);
/* Maps one page of device registers, uncached. */
void memory_map_device(u32 linear, u32 physical);

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
/* Whether the next allocation has little to zero, or nothing to give; if not, zeroes some of it. At
 * the fourth call at the latest it is. */
MUST_CHECK bool pool_ready(void);

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
