/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the check of the compiled system description. The input is a list of
 * changes to a good module, six bytes each: an offset in words and a new value;
 * the checksum is put right again, or the fuzzer would never get behind it. What
 * the check lets pass must keep what the VMM takes from it.
 */
#include <stdlib.h>

#include "core/table_module.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static bool apart(u64 base1, u64 size1, u64 base2, u64 size2)
{
	return base1 + size1 <= base2 || base2 + size2 <= base1;
}

static void check_guest(const struct gandalf_table *table, u32 index)
{
	const struct gandalf_guest *guest = &table->guests[index];
	u64 base = guest->memory_base;
	u64 size = guest->memory_size;

	require(memchr(guest->name, 0, sizeof(guest->name)) != NULL);
	require(size > 0 && base + size <= UINT32_MAX);
	require(apart(base, size, VMM_BASE, VMM_END - VMM_BASE));
	require(apart(base, size, table->pool_base, (u64)table->pool_size * table->cpus));
	require(guest->cpu < table->cpus && table->cpus <= GANDALF_CPUS_MAXIMUM);
	require(guest->entry < size);
	/* Of the ranges themselves segment_allow_ports() takes nothing for granted. */
	require(guest->port_range_count <= GANDALF_PORT_RANGES_MAXIMUM);
	if (guest->kind != GANDALF_KIND_RTOS)
		require((u64)guest->command_line + guest->command_line_size <= size);
	for (u32 i = 0; i < index; i++)
		require(apart(base, size, table->guests[i].memory_base,
			      table->guests[i].memory_size));
}

static void check_image(const struct gandalf_table *table, u32 index)
{
	const struct gandalf_image *image = &table->images[index];
	u64 limit;

	require(image->guest < table->guest_count);
	limit = table->guests[image->guest].memory_size;
	require(memchr(image->name, 0, sizeof(image->name)) != NULL);
	require(image->file_size <= image->memory_size);
	require(image->file_size <= image->room);
	require(image->room == 0 || (u64)image->offset + image->room <= table->module_size);
	require((u64)image->load_address + image->memory_size <= limit);
	image_fault(index);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct gandalf_table *table = &module.table;
	u32 available = sizeof(module);
	u16 word;

	module_make();
	for (; size >= 6; data += 6, size -= 6) {
		memcpy(&word, data, sizeof(word));
		memcpy((u8 *)table + word % (sizeof(*table) / 4) * 4, data + 2, sizeof(u32));
	}
	/* A rest of one byte: a shorter module, or a table that stays damaged. */
	if (size == 1)
		available -= data[0];
	if (size != 2)
		seal();
	if (module_fault(available) != NULL) {
		require(last_words[0] >= 'A' && last_words[0] <= 'Z');
		require(memchr(last_words, 0, sizeof(last_words)) != NULL);
		return 0;
	}
	require(table->module_size <= available);
	require(table->guest_count > 0 && table->guest_count <= GANDALF_GUESTS_MAXIMUM);
	require(table->image_count <= GANDALF_IMAGES_MAXIMUM);
	require(table->focus < table->guest_count);
	for (u32 i = 0; i < table->guest_count; i++)
		check_guest(table, i);
	for (u32 i = 0; i < table->image_count; i++)
		check_image(table, i);
	return 0;
}
