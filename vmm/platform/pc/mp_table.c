/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the CPUs from the configuration table of the MultiProcessor Specification 1.4. */
#include "platform/pc/firmware.h"

/* Offsets in the table and in its entries, which begin with their type (4.2, 4.3). */
enum { TABLE_ENTRIES = 44 };
enum { TYPE_PROCESSOR = 0, PROCESSOR_ID = 1, PROCESSOR_FLAGS = 3, PROCESSOR_ENABLED = 1 };
enum { PROCESSOR_LENGTH = 20, OTHER_LENGTH = 8 };

bool mp_table_read(const u8 *table, u32 size, struct firmware_cpus *cpus)
{
	u32 length = firmware_table_length(table, size, "PCMP", TABLE_ENTRIES, FIRMWARE_MP);
	u32 at, step;

	if (length == 0)
		return false;
	for (at = TABLE_ENTRIES; at < length; at += step) {
		step = table[at] == TYPE_PROCESSOR ? PROCESSOR_LENGTH : OTHER_LENGTH;
		if (step > length - at)
			break;
		if (table[at] == TYPE_PROCESSOR &&
		    (table[at + PROCESSOR_FLAGS] & PROCESSOR_ENABLED) != 0)
			firmware_add(cpus, table[at + PROCESSOR_ID]);
	}
	return true;
}
