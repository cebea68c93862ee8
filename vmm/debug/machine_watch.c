/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that no core writes the machine's variables (lib/owner.h). A debug build maps the image of
 * each core's instance by a page table of its own, in which those pages are not dirty. A CPU sets
 * that bit itself with the first write, also of a value that was there before: another core may
 * have read in the middle. At each return to a guest none may be set. What is written there by way
 * of another mapping, as that of a window on physical memory, machine_check.c finds.
 */
#include "machine_watch.h"

#include "arch/ia32/memory.h"
#include "core/core.h"
#include "core/log.h"
#include "guests/x86/shadow/tlb.h"
#include "lib/owner.h"

/* The machine's variables fill whole pages between these (gandalf.lds). */
extern const u8 machine_first[], machine_end[];

OF_CORE_PAGES static u32 table[1024];

static u32 *entry_of(const u8 *page)
{
	return &table[((u32)page - LAYOUT_IMAGE) >> PAGE_SHIFT];
}

/* Fills the table with what the image is mapped by: the core that has booted the machine has a
 * large page, another one the table of its instance (arch/ia32/instance.c). */
static void table_fill(u32 image)
{
	if (core.index != 0) {
		memory_copy_in(table, image & PTE_FRAME, sizeof(table));
		return;
	}
	for (u32 i = 0; i < 1024; i++)
		table[i] = i * PAGE_SIZE | PTE_P | PTE_A | PTE_D | PTE_G;
}

void machine_watch(void)
{
	u32 *image = &memory_directory[LAYOUT_IMAGE >> LARGE_PAGE_SHIFT];

	table_fill(*image);
	for (const u8 *page = machine_first; page < machine_end; page += PAGE_SIZE)
		*entry_of(page) &= ~PTE_D;
	*image = memory_image_physical(table) | PTE_P | PTE_A;
	tlb_flush_global();
}

void machine_watch_check(void)
{
	for (const u8 *page = machine_first; page < machine_end; page += PAGE_SIZE)
		if ((*entry_of(page) & PTE_D) != 0)
			panic("CPU %u has written what the machine has in common, at %x to %x",
			      core.index, (u32)page, (u32)page + PAGE_SIZE - 1);
}
