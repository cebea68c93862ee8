/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the boot module (Multiboot Specification 0.6.96, 3.3). That stays in memory, since guests
 * are started again from it. It may have any size, since no more than a page of it is mapped at a
 * time.
 */
#include "core/module.h"

#include "arch.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/table.h"
#include "lib/owner.h"
#include "lib/string.h"

#define MULTIBOOT_LOADED 0x2BADB002
enum { INFORMATION_MODULES = 0x08, INFORMATION_MEMORY_MAP = 0x40 };
enum { MEMORY_AVAILABLE = 1, MEMORY_ENTRIES_MAXIMUM = 32 };

struct multiboot_information {
	u32 flags, memory_lower, memory_upper, boot_device, command_line;
	u32 module_count, modules, symbols[4], memory_map_length, memory_map;
};

struct multiboot_module {
	u32 start, end, string, reserved;
};

/* An entry of the loader's memory map. The next one follows at size + 4 bytes. */
struct multiboot_memory {
	u32 size;
	u64 base, length;
	u32 type;
} __attribute__((packed));

struct range {
	u32 base, end;
};

extern const u8 image_end[];

OF_MACHINE struct gandalf_table system_table;
OF_MACHINE u32 module_base;
OF_MACHINE static u32 module_bytes;
OF_MACHINE static struct range memory[MEMORY_ENTRIES_MAXIMUM];
OF_MACHINE static u32 memory_count;

/* Memory ends here at the latest: as a number of 32 bits the end of the 4 GiB would be 0. */
#define LAST_PAGE PAGE_OF(0xffffffffu)

static u32 vmm_end(void)
{
	return (u32)image_end - LAYOUT_IMAGE;
}

static void memory_add(const struct multiboot_memory *entry)
{
	u64 end = entry->base + entry->length;

	if (entry->type == MEMORY_AVAILABLE && entry->base <= LAST_PAGE &&
	    memory_count < MEMORY_ENTRIES_MAXIMUM)
		memory[memory_count++] = (struct range){
			(u32)entry->base, end > LAST_PAGE ? LAST_PAGE : (u32)end};
}

static void memory_read(const struct multiboot_information *information)
{
	u32 at = information->memory_map;
	u32 end = at + information->memory_map_length;
	struct multiboot_memory entry;

	if ((information->flags & INFORMATION_MEMORY_MAP) == 0)
		panic("the boot loader gives no memory map");
	for (; at + sizeof(entry) <= end; at += entry.size + sizeof(entry.size)) {
		memory_copy_in(&entry, at, sizeof(entry));
		memory_add(&entry);
	}
}

static bool memory_exists(u32 base, u32 size)
{
	for (u32 i = 0; i < memory_count; i++)
		if (base >= memory[i].base && base <= memory[i].end && size <= memory[i].end - base)
			return true;
	return false;
}

/* Returns whether a test is true of the memory of a guest, of a channel, or of the pool. */
static bool region_any(const struct gandalf_table *table, u32 at,
		       bool (*test)(u32 at, u32 base, u32 size, const char *name))
{
	const struct gandalf_guest *guest = table->guests;
	const struct gandalf_table_channel *channel = table->channels;

	for (u32 i = 0; i < table->guest_count; i++, guest++)
		if (test(at, guest->memory_base, guest->memory_size, guest->name))
			return true;
	for (u32 i = 0; i < table->channel_count; i++, channel++)
		if (test(at, channel->base, channel->size, channel->name))
			return true;
	return test(at, table->pool_base, table_pool_size(table), "the pool");
}

static bool region_is_missing(UNUSED u32 at, u32 base, u32 size, const char *name)
{
	if (memory_exists(base, size))
		return false;
	panic("this machine lacks the memory of %s, %u MiB at %u MiB", name, size >> 20,
	      base >> 20);
}

/* Of what is written to while guests run, a channel among it. */
static bool region_overlaps(u32 at, u32 base, u32 size, UNUSED const char *name)
{
	return overlaps(at, module_bytes, base, size);
}

static bool module_in_the_way(const struct gandalf_table *table, u32 at)
{
	return region_any(table, at, region_overlaps) ||
	       overlaps(at, module_bytes, LAYOUT_PHYSICAL, vmm_end() - LAYOUT_PHYSICAL);
}

/* Moves the module to the highest end of a piece of memory where nothing is in its way. */
static void module_move(const struct gandalf_table *table)
{
	u32 best = 0;

	for (u32 i = 0; i < memory_count; i++) {
		u32 at = PAGE_OF(PAGE_OF(memory[i].end) - module_bytes);

		if (memory_exists(at, module_bytes) && at > best && !module_in_the_way(table, at))
			best = at;
	}
	if (best == 0)
		panic("no room for the boot module, %u KiB, beside the guests", module_bytes >> 10);
	memory_copy(best, module_base, module_bytes);
	module_base = best;
}

static void module_find(u32 magic, const struct multiboot_information *information)
{
	struct multiboot_module module;

	if (magic != MULTIBOOT_LOADED)
		panic("not started by a multiboot loader");
	if ((information->flags & INFORMATION_MODULES) == 0 || information->module_count != 1)
		panic("the boot loader must load one module");
	memory_copy_in(&module, information->modules, sizeof(module));
	module_base = module.start;
	module_bytes = module.end - module.start;
}

void module_load(struct gandalf_table *table, u32 magic, u32 information_at)
{
	struct multiboot_information information;
	const struct gandalf_image *image = table->images;
	bool missing;

	memory_copy_in(&information, information_at, sizeof(information));
	module_find(magic, &information);
	memory_copy_in(table, module_base, sizeof(*table));
	table_check(table, module_bytes, LAYOUT_PHYSICAL, vmm_end());
	memory_read(&information);
	missing = region_any(table, 0, region_is_missing);
	(void)missing; /* nothing is, behind that */
	if (module_in_the_way(table, module_base))
		module_move(table);
	for (u32 i = 0; i < table->image_count; i++, image++)
		table_check_image(table, image,
				  memory_crc(module_base + image->offset, image->file_size));
}
