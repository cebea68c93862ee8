/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the readers of the firmware's tables of CPUs. The signature, the length and the checksum
 * are made right as the first byte says, since no input would get past them otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/pc/firmware.h"

#define ROOM 8u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Each number is in the table, and is there once. */
static void check(const struct firmware_cpus *cpus, const u8 *table, u32 size)
{
	require(cpus->count <= ROOM);
	for (u32 i = 0; i < cpus->count; i++) {
		require(memchr(table, cpus->ids[i], size) != NULL);
		require(memchr(cpus->ids, cpus->ids[i], i) == NULL);
	}
}

static void seal(u8 *table, u32 size, const char *signature, u32 place, u32 length_bytes)
{
	u8 sum = 0;

	memcpy(table, signature, 4);
	memcpy(table + 4, &size, length_bytes);
	for (u32 i = 0; i < size; i++)
		sum = (u8)(sum + table[i]);
	table[place] = (u8)(table[place] - sum);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u8 ids[ROOM];
	struct firmware_cpus cpus = {0, ROOM, ids};
	u32 bytes = size == 0 ? 0 : (u32)size - 1;
	bool acpi = size != 0 && (data[0] & 1) != 0;
	bool whole = size != 0 && (data[0] & 2) != 0;
	u8 *table = malloc(bytes); /* of its own, so that a read behind it is found */

	require(table != NULL || bytes == 0);
	if (bytes != 0)
		memcpy(table, data + 1, bytes);
	if (whole && bytes >= 12)
		seal(table, bytes, acpi ? "APIC" : "PCMP", acpi ? 9 : 7, acpi ? 4 : 2);
	if (acpi ? madt_read(table, bytes, &cpus) : mp_table_read(table, bytes, &cpus))
		require(bytes >= 44);
	else
		require(cpus.count == 0);
	check(&cpus, table, bytes);
	free(table);
	return 0;
}
