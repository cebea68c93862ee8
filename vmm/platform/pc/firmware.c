/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the firmware's tables: structures with a signature, on a boundary of 16 bytes in the
 * BIOS's memory, lead to them (ACPI specification 6.5, 5.2.5; MultiProcessor Specification 1.4, 4).
 */
#include "platform/pc/firmware.h"

#include "arch/ia32/memory.h"
#include "lib/string.h"

/* Where a PC's BIOS keeps the segment of its extended data, of which the first KiB is searched, as
 * is the BIOS's read-only memory. */
enum { EXTENDED_DATA_SEGMENT = 0x40e, EXTENDED_DATA_SIZE = 0x400, BOUNDARY = 16 };
enum { BIOS_FIRST = 0xe0000, BIOS_SIZE = 0x20000, BASE_MEMORY_LAST = 0x9fc00 };
enum { ROOT_POINTER_SIZE = 20, ROOT_TABLE = 16, ROOT_ENTRIES = 36 };
enum { MP_POINTER_SIZE = 16, MP_TABLE = 4 };

/* Copies a structure with that signature out of a range of physical memory; false: there is
 * none. */
MUST_CHECK static bool range_search(u32 first, u32 size, const char *signature, u8 *to, u32 bytes)
{
	for (u32 at = first; at + bytes <= first + size; at += BOUNDARY) {
		memory_copy_in(to, at, bytes);
		if (memcmp(to, signature, strnlen(signature, bytes)) == 0 &&
		    firmware_sum_is_right(to, bytes))
			return true;
	}
	return false;
}

MUST_CHECK static bool pointer_search(const char *signature, u8 *to, u32 bytes)
{
	u16 segment;

	memory_copy_in(&segment, EXTENDED_DATA_SEGMENT, sizeof(segment));
	return range_search((u32)segment << 4, EXTENDED_DATA_SIZE, signature, to, bytes) ||
	       range_search(BASE_MEMORY_LAST, EXTENDED_DATA_SIZE, signature, to, bytes) ||
	       range_search(BIOS_FIRST, BIOS_SIZE, signature, to, bytes);
}

static u32 word_at(u32 physical)
{
	u32 word;

	memory_copy_in(&word, physical, sizeof(word));
	return word;
}

/* Tries the tables that the root table names, of which the MADT is one. */
MUST_CHECK static bool madt_find(u8 *table, struct firmware_cpus *cpus)
{
	u32 root, length;

	if (!pointer_search("RSD PTR ", table, ROOT_POINTER_SIZE))
		return false;
	memcpy(&root, table + ROOT_TABLE, sizeof(root));
	memory_copy_in(table, root, FIRMWARE_TABLE_MAXIMUM);
	length = firmware_table_length(table, FIRMWARE_TABLE_MAXIMUM, "RSDT", ROOT_ENTRIES,
				       FIRMWARE_ACPI);
	for (u32 at = ROOT_ENTRIES; at + sizeof(u32) <= length; at += sizeof(u32)) {
		memory_copy_in(table, word_at(root + at), FIRMWARE_TABLE_MAXIMUM);
		if (madt_read(table, FIRMWARE_TABLE_MAXIMUM, cpus))
			return true;
	}
	return false;
}

MUST_CHECK static bool mp_table_find(u8 *table, struct firmware_cpus *cpus)
{
	u32 at;

	if (!pointer_search("_MP_", table, MP_POINTER_SIZE))
		return false;
	memcpy(&at, table + MP_TABLE, sizeof(at));
	memory_copy_in(table, at, FIRMWARE_TABLE_MAXIMUM);
	return mp_table_read(table, FIRMWARE_TABLE_MAXIMUM, cpus);
}

void firmware_find_cpus(struct firmware_cpus *cpus)
{
	u8 table[FIRMWARE_TABLE_MAXIMUM];
	bool found = madt_find(table, cpus) || mp_table_find(table, cpus);

	(void)found;
}
