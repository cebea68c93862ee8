/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory as the VMM reaches it: windows on any frame, copies, and what is mapped
 * in all address spaces. All physical addresses are machine addresses in bytes.
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
/* How far behind the image's own the data of this core's instance lies (instance.c). */
extern u32 memory_image_offset;

#define MEMORY_WINDOWS 1024u

/* What each window shows. */
extern u32 memory_windows[MEMORY_WINDOWS];

/* Changes what one shows. */
void memory_window_move(u32 slot, u32 entry);

/* A pointer to a frame of physical memory; valid until the next window on another frame
 * whose number is equal modulo 1024, so not kept across calls. A hit costs
 * about seven instructions, a miss an INVLPG more. */
static INLINE void *memory_window_frame(u32 frame)
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
/* Maps one page of memory for good, between LAYOUT_FIXED and the end of its 4 MiB. */
void memory_map_page(u32 linear, u32 physical);
/* Maps one page of device registers, uncached. */
void memory_map_device(u32 linear, u32 physical);
/* Maps the pool at LAYOUT_POOL; base and size are multiples of a large page. */
void memory_map_pool(u32 base, u32 size);
/* Maps the boot module, to be looked at, where the RTOSes will be; and no longer. */
const void *memory_map_module(u32 base, u32 size);
void memory_unmap_module(void);
