/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens windows on physical memory, and makes what every address space has. The windows are a
 * direct-mapped cache of 1024 page mappings: guest page tables are read through them on every
 * shadow fill, so a hit must be a compare and an add.
 */
#include "arch/ia32/memory.h"

#include "core/log.h"
#include "core/pool.h"
#include "lib/crc32.h"
#include "lib/owner.h"
#include "lib/string.h"

OF_CORE_PAGES u32 memory_directory[1024];
OF_CORE_PAGES u32 memory_windows[MEMORY_WINDOWS];
OF_CORE_PAGES static u32 fixed_table[1024];

OF_CORE static u32 rtos_mapped;
/* How far behind the image's own the data of this core's instance lies; 0 on the core that has
 * booted the machine. */
OF_CORE u32 memory_image_offset;

/* The entry of the image is a large page on the core that has booted, and a page table on others
 * (instance.c), for which the last two bits mean nothing. */
void memory_init(void)
{
	u32 *image = &memory_directory[LAYOUT_IMAGE >> LARGE_PAGE_SHIFT];

	memory_directory[LAYOUT_WINDOWS >> LARGE_PAGE_SHIFT] =
		memory_image_physical(memory_windows) | PTE_P | PTE_W | PTE_A;
	memory_directory[LAYOUT_FIXED >> LARGE_PAGE_SHIFT] =
		memory_image_physical(fixed_table) | PTE_P | PTE_W | PTE_A;
	*image = (*image & ~PTE_W) | PTE_A | PTE_D | PTE_G;
	memory_directory[0] = 0;
	cr3_write(cr3_read());
}

void memory_window_move(u32 slot, u32 entry)
{
	memory_windows[slot] = entry;
	invlpg(LAYOUT_WINDOWS + (slot << PAGE_SHIFT));
}

static void *fixed_window(u32 linear, u32 physical)
{
	fixed_table[(linear - LAYOUT_FIXED) >> PAGE_SHIFT] =
		(physical & PTE_FRAME) | PTE_P | PTE_A | PTE_D;
	invlpg(linear);
	return (void *)(linear + (physical & (PAGE_SIZE - 1)));
}

static u32 page_rest(u32 physical)
{
	return PAGE_SIZE - (physical & (PAGE_SIZE - 1));
}

static void *reach(u32 window, u32 address, bool physical)
{
	return physical ? fixed_window(window, address) : (void *)address;
}

/* Copies in chunks that cross no page. Each address is physical, or else the VMM's own. */
static void copy(u32 to, bool to_physical, u32 from, bool from_physical, u32 size)
{
	while (size != 0) {
		u32 chunk = minimum(size, minimum(page_rest(to), page_rest(from)));

		memcpy(reach(LAYOUT_COPY_TO, to, to_physical),
		       reach(LAYOUT_COPY_FROM, from, from_physical), chunk);
		to += chunk;
		from += chunk;
		size -= chunk;
	}
}

void memory_copy(u32 to, u32 from, u32 size)
{
	/* Where the destination overlaps the end of the source, the end is copied first, in
	 * pieces that are no longer than the distance and so do not overlap themselves. */
	for (u32 piece = to - from; to > from && piece < size; size -= piece)
		copy(to + size - piece, true, from + size - piece, true, piece);
	copy(to, true, from, true, size);
}

const void *memory_look(u32 physical)
{
	return fixed_window(LAYOUT_COPY_FROM, physical);
}

void memory_copy_in(void *to, u32 from, u32 size)
{
	copy((u32)to, false, from, true, size);
}

void memory_copy_out(u32 to, const void *from, u32 size)
{
	copy(to, true, (u32)from, false, size);
}

void memory_zero(u32 physical, u32 size)
{
	while (size != 0) {
		u32 chunk = minimum(size, page_rest(physical));

		memset(fixed_window(LAYOUT_COPY_TO, physical), 0, chunk);
		physical += chunk;
		size -= chunk;
	}
}

u32 memory_crc(u32 physical, u32 size)
{
	u32 crc = 0;

	while (size != 0) {
		u32 chunk = minimum(size, page_rest(physical));

		crc = crc32_update(crc, fixed_window(LAYOUT_COPY_FROM, physical), chunk);
		physical += chunk;
		size -= chunk;
	}
	return crc;
}

u32 memory_map_rtos(u32 physical, u32 size)
{
	rtos_mapped += PAGE_SIZE;
	return memory_map_more(physical, size);
}

u32 memory_map_more(u32 physical, u32 size)
{
	u32 linear = LAYOUT_RTOS + rtos_mapped;

	if (size > LAYOUT_POOL - linear)
		panic("RTOSes and channels exceed %u MiB of memory",
		      (LAYOUT_POOL - LAYOUT_RTOS) >> 20);
	for (u32 offset = 0; offset < size; offset += PAGE_SIZE) {
		u32 address = linear + offset;
		u32 *directory_entry = &memory_directory[address >> LARGE_PAGE_SHIFT];
		u32 *table;

		/* This runs at boot only, when there is no shadow that could be evicted to free a
		 * frame. */
		if (*directory_entry == 0 && (*directory_entry = pool_allocate()) == 0)
			panic("the pool is too small for the RTOSes' memory");
		*directory_entry |= PTE_P | PTE_W | PTE_A;
		table = pool_pointer(*directory_entry & PTE_FRAME);
		/* The page is read-only, since Linux's ring 1 counts as a supervisor, too. WP 0
		 * lets RTOSes and the VMM write it. */
		table[(address >> PAGE_SHIFT) % 1024] =
			(physical + offset) | PTE_P | PTE_A | PTE_D | PTE_G;
	}
	rtos_mapped += size;
	return linear;
}

void memory_map_page(u32 linear, u32 physical)
{
	fixed_window(linear, physical);
}

void memory_map_device(u32 linear, u32 physical)
{
	fixed_window(linear, physical);
	fixed_table[(linear - LAYOUT_FIXED) >> PAGE_SHIFT] |= PTE_PCD;
	invlpg(linear);
}

void memory_map_pool(u32 base, u32 size)
{
	for (u32 offset = 0; offset < size; offset += LARGE_PAGE_SIZE)
		memory_directory[(LAYOUT_POOL + offset) >> LARGE_PAGE_SHIFT] =
			(base + offset) | PTE_P | PTE_PS | PTE_A | PTE_D | PTE_G;
}
