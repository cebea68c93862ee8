/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how the VMM reaches physical memory: windows on any frame, copies, and what is mapped in all
 * address spaces. All physical addresses are machine addresses in bytes.
 */
#pragma once

#include "arch/ia32/cpu.h"
#include "arch/ia32/layout.h"
#include "lib/types.h"

/* The VMM's own page directory, which maps the VMM, the pool and the RTOSes. It is
 * loaded whenever no Linux guest's shadow is. */
extern u32 memory_directory[1024];

/* Brings memory_directory from its state at boot to its final one: removes the
 * identity mapping, and installs the windows. */
void memory_init(void);
/* How far behind the image's own the data of this core's instance lies (instance.c). */
extern u32 memory_image_offset;
/* Returns the physical address of a variable of this core's. */
static inline u32 memory_image_physical(const void *variable)
{
	return (u32)variable - LAYOUT_IMAGE + memory_image_offset;
}

#define MEMORY_WINDOWS 1024u

/* The page-table entry of each window: the frame that it shows. */
extern u32 memory_windows[MEMORY_WINDOWS];

/* Sets the entry of window slot, which is below MEMORY_WINDOWS, and flushes it from the TLB. */
void memory_window_move(u32 slot, u32 entry);

/* Returns a pointer to a frame of physical memory, given its address. The pointer is valid until a
 * window is opened on another frame whose number is equal modulo 1024, so no caller keeps it
 * across calls. A hit costs about seven instructions, a miss an INVLPG more. */
static INLINE void *memory_window_frame(u32 frame)
{
	u32 slot = (frame >> PAGE_SHIFT) % MEMORY_WINDOWS;
	u32 entry = frame | PTE_P | PTE_A | PTE_D;

	if (memory_windows[slot] != entry)
		memory_window_move(slot, entry);
	return (void *)(LAYOUT_WINDOWS + (slot << PAGE_SHIFT));
}

/* Copies any number of bytes of physical memory; the ranges may overlap. */
void memory_copy(u32 to, u32 from, u32 size);
/* Copy physical memory into the VMM's, copy the VMM's into physical memory, and zero the latter.
 * Any number of bytes is allowed. */
void memory_copy_in(void *to, u32 from, u32 size);
void memory_copy_out(u32 to, const void *from, u32 size);
void memory_zero(u32 physical, u32 size);
/* Returns a pointer to physical memory that is not a guest's, for what lies in its page. It is
 * valid until something is copied. */
const void *memory_look(u32 physical);
/* Returns the checksum (lib/crc32.h) of any number of bytes of physical memory. They are read where
 * they are, a page at a time, which costs nearly nothing beside the few instructions per byte. */
u32 memory_crc(u32 physical, u32 size);

/* Maps the memory of an RTOS behind LAYOUT_RTOS, in all address spaces. The pages in front of
 * it and behind it stay unmapped, so that they stop an access where a segment limit fails to, as
 * in QEMU. Returns the linear address. Panics if there is no room left. */
u32 memory_map_rtos(u32 physical, u32 size);
/* Maps more memory right behind what was mapped last. Returns and panics likewise. */
u32 memory_map_more(u32 physical, u32 size);
/* Maps one page of memory for good, between LAYOUT_FIXED and the end of its 4 MiB. */
void memory_map_page(u32 linear, u32 physical);
/* Maps one page of device registers uncached, at one of the fixed pages (LAYOUT_FIXED). */
void memory_map_device(u32 linear, u32 physical);
/* Maps the pool at LAYOUT_POOL; base and size are multiples of a large page. */
void memory_map_pool(u32 base, u32 size);
