/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what is taken from the firmware's tables of CPUs. The first byte of the input says which
 * table it is, what of it is made right (the fuzzer would not get behind a checksum), how many
 * CPUs there is room for, and how many are known before. The rest is the table.
 */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "platform/pc/firmware.h"

/* What each kind of table is known by, and where its checksum and its CPUs' fields are. */
struct kind {
	bool (*read)(const u8 *table, u32 size, struct firmware_cpus *cpus);
	const char *signature;
	u32 checksum, length_size, entry, id, flags;
};

static const struct kind kinds[] = {
	{madt_read, "APIC", 9, 4, 8, 3, 4},
	{mp_table_read, "PCMP", 7, 2, 20, 1, 3},
};

#define HEAD 44u
#define ROOM 7u
#define UNTOUCHED 0xa5

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Whether an enabled CPU of that id may stand in the table, wherever its entries begin. */
static bool has_cpu(const struct kind *kind, const u8 *table, u32 size, u8 id)
{
	for (u32 at = HEAD; at + kind->entry <= size; at++)
		if (table[at] == 0 && table[at + kind->id] == id &&
		    (table[at + kind->flags] & 1) != 0)
			return true;
	return false;
}

static u8 sum(const u8 *table, u32 size)
{
	u8 value = 0;

	while (size > 0)
		value = (u8)(value + table[--size]);
	return value;
}

static u32 length_of(const struct kind *kind, const u8 *table)
{
	u32 length = 0;

	memcpy(&length, table + 4, kind->length_size);
	return length;
}

static void make_right(const struct kind *kind, u8 *table, u32 size, bool length)
{
	u32 covered;

	memcpy(table, kind->signature, 4);
	if (length)
		memcpy(table + 4, &size, kind->length_size);
	covered = minimum(length_of(kind, table), size);
	if (covered > kind->checksum)
		table[kind->checksum] = (u8)(table[kind->checksum] - sum(table, covered));
}

static void check(const struct kind *kind, const u8 *table, u32 size, u32 room, u32 known)
{
	u8 ids[ROOM + 1];
	struct firmware_cpus cpus = {known, room, ids};
	u32 length;

	memset(ids, UNTOUCHED, sizeof(ids));
	for (u32 i = 0; i < known; i++)
		ids[i] = (u8)(0xfe - i);
	if (!kind->read(table, size, &cpus)) {
		require(cpus.count == known && ids[known] == UNTOUCHED);
		return;
	}
	length = length_of(kind, table);
	require(size >= HEAD && memcmp(table, kind->signature, 4) == 0);
	require(length >= HEAD && length <= size && sum(table, length) == 0);
	require(cpus.count >= known && cpus.count <= room && cpus.room == room);
	for (u32 i = 0; i < cpus.count; i++) {
		require(i < known ? ids[i] == 0xfe - i : has_cpu(kind, table, length, ids[i]));
		for (u32 j = 0; j < i; j++)
			require(ids[i] != ids[j]);
	}
	for (u32 i = cpus.count; i <= ROOM; i++)
		require(ids[i] == UNTOUCHED);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = {data, size};
	u32 choice = input_take(&input, 1);
	const struct kind *kind = &kinds[choice & 1];
	u32 room = choice >> 3 & ROOM;
	u32 known = minimum(choice >> 6, room);
	/* Of that size exactly, so that a read beyond it is noticed. */
	u8 *table = malloc(input.size);

	require(table != NULL || input.size == 0);
	if (input.size != 0)
		memcpy(table, input.data, input.size);
	if ((choice & 2) != 0 && input.size >= HEAD)
		make_right(kind, table, (u32)input.size, (choice & 4) != 0);
	check(kind, table, (u32)input.size, room, known);
	free(table);
	return 0;
}
