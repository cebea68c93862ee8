/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled system that is right in every respect, to be spoilt by the unit test
 * and the fuzzer of the table's check.
 */
#ifndef GANDALF_UNIT_TABLE_MODULE_H
#define GANDALF_UNIT_TABLE_MODULE_H

#include <string.h>

#include "arch/ia32/layout.h"
#include "core/table.h"
#include "fake/last_words.h"
#include "lib/crc32.h"

#define VMM_BASE LAYOUT_PHYSICAL
#define VMM_END 0x00180000u
#define MEBI 0x100000u
#define IMAGE_SIZE 0x1000u

struct module {
	struct gandalf_table table;
	u8 bytes[4 * IMAGE_SIZE];
};

static struct module module;

/* Why the VMM refuses so many bytes of the module, NULL if it does not. */
static const char *module_fault(u32 available)
{
	jmp_buf here;

	memset(last_words, '?', sizeof(last_words));
	panicked = &here;
	if (setjmp(here) != 0)
		return last_words;
	table_check(&module.table, available, VMM_BASE, VMM_END);
	panicked = NULL;
	return NULL;
}

/* The same of an image. */
static const char *image_fault(u32 index)
{
	const struct gandalf_image *image = &module.table.images[index];
	jmp_buf here;

	panicked = &here;
	if (setjmp(here) != 0)
		return last_words;
	table_check_image(&module.table, image,
			  crc32_update(0, (u8 *)&module + image->offset, image->file_size));
	panicked = NULL;
	return NULL;
}

static void seal(void)
{
	module.table.checksum = 0;
	module.table.checksum = crc32_update(0, &module.table, sizeof(module.table));
}

static void image_add(u32 guest, u32 address, u32 memory_size, const char *name)
{
	struct gandalf_image *image = &module.table.images[module.table.image_count];

	*image = (struct gandalf_image){
		.guest = guest,
		.offset = (u32)sizeof(module.table) + module.table.image_count * IMAGE_SIZE,
		.file_size = IMAGE_SIZE,
		.room = IMAGE_SIZE,
		.load_address = address,
		.memory_size = memory_size,
	};
	image->checksum = crc32_update(0, (u8 *)&module + image->offset, IMAGE_SIZE);
	snprintf(image->name, sizeof(image->name), "%s", name);
	module.table.image_count++;
}

/* Linux at 64 MiB, and two RTOSes. */
static const struct gandalf_guest guests_made[] = {
	{
		.name = "linux",
		.kind = GANDALF_KIND_LINUX_SHARED,
		.memory_base = 64 * MEBI,
		.memory_size = 128 * MEBI,
		.entry = MEBI + 0x100,
		.boot_parameters = 0x90000,
		.command_line = 0x91000,
		.command_line_size = 0x800,
		.on_reboot = GANDALF_POLICY_RESTART,
		.restart_limit = 3,
		.interrupts = 0x4000,
		.flags = GANDALF_GUEST_STRICT_TLS,
		.port_range_count = 2,
		.port_ranges = { { 0x1f0, 0x1f7 }, { 0x3f6, 0x3f6 } },
	},
	{
		.name = "control",
		.kind = GANDALF_KIND_RTOS,
		.priority = 2,
		.memory_base = 32 * MEBI,
		.memory_size = 0x5000,
		.entry = 0x100,
		.interrupts = 0x00a0,
		.port_range_count = 1,
		.port_ranges = { { 0x300, 0x31f } },
	},
	{
		.name = "fifteen-letters",
		.kind = GANDALF_KIND_RTOS,
		.priority = 1,
		.memory_base = 32 * MEBI + 0x5000,
		.memory_size = MEBI,
	},
};

static void module_make(void)
{
	struct gandalf_table *table = &module.table;

	memset(&module, 0, sizeof(module));
	for (unsigned i = 0; i < sizeof(module.bytes); i++)
		module.bytes[i] = (u8)(i * 7);
	table->magic = GANDALF_TABLE_MAGIC;
	table->version = GANDALF_TABLE_VERSION;
	table->levels = GANDALF_LEVELS_RINGS;
	table->table_size = sizeof(*table);
	table->module_size = sizeof(module);
	table->guest_count = 3;
	table->pool_base = 8 * MEBI;
	table->cpus = 1;
	table->pool_size = 8 * MEBI;
	table->console_port = 0x3f8;
	table->console_interrupt = 4;
	table->console_baud = 115200;
	memcpy(table->guests, guests_made, sizeof(guests_made));
	image_add(0, MEBI, 4 * MEBI, "kernel");
	image_add(0, 0x90000, IMAGE_SIZE, "parameters");
	image_add(1, 0, 2 * IMAGE_SIZE, "text");
	image_add(2, 0, MEBI - IMAGE_SIZE, "all");
	seal();
}

#endif
