/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the CPUs from ACPI's Multiple APIC Description Table (ACPI specification 6.5, 5.2.12). */
#include "platform/pc/firmware.h"

/* Offsets in the table and in its entries, which begin with type and length. */
enum { TABLE_ENTRIES = 44, ENTRY_HEADER = 2 };
enum { TYPE_LOCAL_APIC = 0, APIC_ID = 3, APIC_FLAGS = 4, APIC_LENGTH = 8, APIC_ENABLED = 1 };

bool madt_read(const u8 *table, u32 size, struct firmware_cpus *cpus)
{
	u32 length = firmware_table_length(table, size, "APIC", TABLE_ENTRIES, FIRMWARE_ACPI);
	u32 at;

	if (length == 0)
		return false;
	for (at = TABLE_ENTRIES; at + ENTRY_HEADER <= length; at += table[at + 1]) {
		if (table[at + 1] < ENTRY_HEADER || table[at + 1] > length - at)
			break;
		if (table[at] == TYPE_LOCAL_APIC && table[at + 1] >= APIC_LENGTH &&
		    (table[at + APIC_FLAGS] & APIC_ENABLED) != 0)
			firmware_add(cpus, table[at + APIC_ID]);
	}
	return true;
}
