/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the instances of the VMM for other cores than the first. All run the same code at the same
 * addresses, but each has data of its own there: page tables lead the addresses of variables to a
 * copy in the core's memory. So no function has to ask on which core it runs, and nothing can be
 * shared by mistake. A copy begins as the image was loaded. What the machine has in common is there
 * once, like the code: the core that boots the machine writes it, before another one comes up, and
 * nobody after that (lib/owner.h).
 *
 * An instance has, one behind the other: the pages of variables that it needs, a page in the place
 * of those that it does not need, and its page table.
 */
#include "arch/ia32/instance.h"

#include "arch/ia32/cpu.h"
#include "arch/ia32/memory.h"
#include "core/core.h"
#include "core/log.h"
#include "lib/owner.h"
#include "lib/string.h"

#define INITIAL_MAXIMUM 2048u
#define PAGE_FLAGS (PTE_P | PTE_A | PTE_D | PTE_G)

/* gandalf.lds: each core's variables, which begin with a page and with those that are not zero at
 * first, and the end of all data. */
extern const u8 core_first[], core_end[], image_end[];
/* What start.S begins and ends with, and the page directory that it has. */
extern const u8 start_first[], start_directory[], start_end[];

/* The first as the image was loaded. */
OF_MACHINE static u8 initial[INITIAL_MAXIMUM];

/* Whatever is not needed has this page in common: who writes there changes nothing. */
#define UNNEEDED 1u
#define TABLE 1u

u32 instance_size(u32 index, instance_page is_needed)
{
	u32 pages = UNNEEDED + TABLE;

	for (const u8 *page = core_first; page < image_end; page += PAGE_SIZE)
		pages += is_needed(index, page);
	return pages * PAGE_SIZE;
}

void instance_keep(void)
{
	if (core_end - core_first > (int)sizeof(initial))
		panic("no room for its data");
	memcpy(initial, core_first, (u32)(core_end - core_first));
}

/* Where a variable of the instance whose data is there lies. */
static u32 place_of(u32 place, const void *variable)
{
	return place + (u32)((const u8 *)variable - core_first);
}

static APART void write_word(u32 place, const void *variable, u32 value)
{
	memory_copy_out(place_of(place, variable), &value, sizeof(value));
}

static void table_write(u32 table, u32 place, u32 index, instance_page is_needed)
{
	u32 unneeded = table - UNNEEDED * PAGE_SIZE;
	const u8 *at = (const u8 *)LAYOUT_IMAGE;

	for (u32 i = 0; i < 1024; i++, at += PAGE_SIZE) {
		u32 entry = 0;

		if (at < core_first) {
			entry = i * PAGE_SIZE | PAGE_FLAGS;
		} else if (at < image_end && !is_needed(index, at)) {
			entry = unneeded | PAGE_FLAGS;
		} else if (at < image_end) {
			entry = place | PAGE_FLAGS;
			place += PAGE_SIZE;
		}
		memory_copy_out(table + i * sizeof(u32), &entry, sizeof(entry));
	}
}

void instance_create(u32 place, u32 size, u32 index, instance_page is_needed)
{
	u32 table = place + size - TABLE * PAGE_SIZE;
	u32 directory = place_of(place, memory_directory);

	memory_zero(place, size);
	memory_copy_out(place, initial, (u32)(core_end - core_first));
	table_write(table, place, index, is_needed);
	write_word(place, &memory_directory[0], PTE_P | PTE_W | PTE_PS);
	write_word(place, &memory_directory[LAYOUT_IMAGE >> LARGE_PAGE_SHIFT],
		   table | PTE_P | PTE_A);
	write_word(place, &memory_image_offset, place - ((u32)core_first - LAYOUT_IMAGE));
	write_word(place, &core.index, index);
	memory_copy_out(LAYOUT_START, start_first, (u32)(start_end - start_first));
	memory_copy_out(LAYOUT_START + (u32)(start_directory - start_first), &directory,
			sizeof(directory));
}

/* Where a page of the image is in the memory of the instance with that table. */
static u32 frame_of(u32 table, u32 offset)
{
	u32 entry;

	if (table == 0)
		return offset & PTE_FRAME;
	memory_copy_in(&entry, table + (offset >> PAGE_SHIFT) * sizeof(entry), sizeof(entry));
	return entry & PTE_FRAME;
}

void instance_read(u32 table, void *to, const void *from, u32 size)
{
	u32 offset = (u32)from - LAYOUT_IMAGE;
	u8 *at = to;

	while (size != 0) {
		u32 within = offset % PAGE_SIZE;
		u32 step = minimum(size, PAGE_SIZE - within);

		memory_copy_in(at, frame_of(table, offset) + within, step);
		at += step;
		offset += step;
		size -= step;
	}
}
