/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instances of the VMM of other cores than the first. All run the same code at the same
 * addresses, but each has data of its own there: page tables lead the addresses of variables to a
 * copy in the core's memory. So no function has to ask on which core it runs, and nothing can be
 * shared by mistake. A copy begins as the image was loaded, with what the machine has in common as
 * the first core has found it.
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

/* gandalf.lds: variables that are not zero at first, what the machine has in common, and the end of
 * all data, of which the first and the second begin with a page. */
extern const u8 core_first[], core_end[], machine_first[], machine_end[], image_end[];
/* start.S */
extern const u8 start_first[], start_directory[], start_end[];

/* The first as the image was loaded. */
OF_MACHINE static u8 initial[INITIAL_MAXIMUM];

static u32 data_size(void)
{
	return ((u32)(image_end - core_first) + PAGE_SIZE - 1) & PTE_FRAME;
}

u32 instance_size(void)
{
	return data_size() + PAGE_SIZE;
}

void instance_keep(void)
{
	if (core_end - core_first > (int)sizeof(initial))
		panic("no room to keep what variables are at first");
	memcpy(initial, core_first, (u32)(core_end - core_first));
}

/* Where a variable of the instance whose data is there lies. */
static u32 place_of(u32 place, const void *variable)
{
	return place + (u32)((const u8 *)variable - core_first);
}

static void write_word(u32 place, const void *variable, u32 value)
{
	memory_copy_out(place_of(place, variable), &value, sizeof(value));
}

/* The code is the image's, as it was loaded; the data behind it is the instance's. */
static void table_write(u32 table, u32 place)
{
	u32 entries[8];
	u32 linear = LAYOUT_IMAGE;

	for (u32 i = 0; i < 1024; i++, linear += PAGE_SIZE) {
		u32 page = linear - LAYOUT_IMAGE;

		if (linear >= (u32)core_first)
			page = place + (linear - (u32)core_first);
		entries[i % ARRAY_SIZE(entries)] = linear < (u32)image_end ? page | PAGE_FLAGS : 0;
		if ((i + 1) % ARRAY_SIZE(entries) == 0)
			memory_copy_out(table + (i + 1) * sizeof(u32) - sizeof(entries), entries,
					sizeof(entries));
	}
}

void instance_create(u32 place, u32 index)
{
	u32 table = place + data_size();
	u32 directory = place_of(place, memory_directory);

	memory_zero(place, data_size());
	memory_copy_out(place, initial, (u32)(core_end - core_first));
	memory_copy_out(place_of(place, machine_first), machine_first,
			(u32)(machine_end - machine_first));
	table_write(table, place);
	write_word(place, &memory_directory[0], PTE_P | PTE_W | PTE_PS);
	write_word(place, &memory_directory[LAYOUT_IMAGE >> LARGE_PAGE_SHIFT],
		   table | PTE_P | PTE_A);
	write_word(place, &memory_image_offset, place - ((u32)core_first - LAYOUT_IMAGE));
	write_word(place, &core.index, index);
	memory_copy_out(LAYOUT_START, start_first, (u32)(start_end - start_first));
	memory_copy_out(LAYOUT_START + (u32)(start_directory - start_first), &directory,
			sizeof(directory));
}
