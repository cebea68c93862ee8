/* SPDX-License-Identifier: Apache-2.0 */
/* Does what is the same for each of the firmware's tables: notes a CPU, and checks the table. */
#include "platform/pc/firmware_table.h"

#include "lib/string.h"

void firmware_add(struct firmware_cpus *cpus, u8 id)
{
	for (u32 i = 0; i < cpus->count; i++)
		if (cpus->ids[i] == id)
			return;
	if (cpus->count < cpus->room)
		cpus->ids[cpus->count++] = id;
}

bool firmware_sum_is_right(const u8 *bytes, u32 size)
{
	u8 sum = 0;

	for (u32 i = 0; i < size; i++)
		sum = (u8)(sum + bytes[i]);
	return sum == 0;
}

u32 firmware_table_length(const u8 *table, u32 size, const char *signature, u32 entries,
			  u32 length_bits)
{
	u32 length;

	if (size < entries || memcmp(table, signature, FIRMWARE_LENGTH) != 0)
		return 0;
	memcpy(&length, table + FIRMWARE_LENGTH, sizeof(length));
	length &= length_bits;
	if (length < entries || length > size || !firmware_sum_is_right(table, length))
		return 0;
	return length;
}
