/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPUs in the firmware's tables, as they should be and as they should not.
 */
#include "unit.h"

#include <string.h>

#include "platform/pc/firmware.h"

#define ROOM 4u
#define ENTRIES 44u /* where they begin, in both tables */

static u8 table[FIRMWARE_TABLE_MAXIMUM];
static u32 length;
static u8 ids[ROOM];
static struct firmware_cpus cpus;

static void begin(const char *signature)
{
	memset(table, 0, sizeof(table));
	memcpy(table, signature, 4);
	length = ENTRIES;
	cpus = (struct firmware_cpus){0, ROOM, ids};
}

static void add(const u8 *entry, u32 size)
{
	memcpy(table + length, entry, size);
	length += size;
}

static void add_apic(u8 id, u8 flags)
{
	const u8 entry[8] = {0, 8, 0, id, flags, 0, 0, 0};

	add(entry, sizeof(entry));
}

static void add_processor(u8 id, u8 flags)
{
	const u8 entry[20] = {0, id, 0x14, flags};

	add(entry, sizeof(entry));
}

/* Writes the length, of two or of four bytes, and the checksum, which lies at place. */
static void end(u32 place)
{
	u8 sum = 0;

	table[4] = (u8)length;
	table[5] = (u8)(length >> 8);
	for (u32 i = 0; i < length; i++)
		sum = (u8)(sum + table[i]);
	table[place] = (u8)(table[place] - sum);
}

static bool read_madt(void)
{
	end(9);
	return madt_read(table, sizeof(table), &cpus);
}

static bool read_mp_table(void)
{
	end(7);
	return mp_table_read(table, sizeof(table), &cpus);
}

static void a_madt_names_cpus_that_are_enabled(void **state)
{
	static const u8 io_apic[12] = {1, 12, 4};

	(void)state;
	begin("APIC");
	add_apic(3, 1);
	add(io_apic, sizeof(io_apic));
	add_apic(5, 0);
	add_apic(0, 1);
	assert_true(read_madt());
	assert_int_equal(cpus.count, 2);
	assert_int_equal(ids[0], 3);
	assert_int_equal(ids[1], 0);
}

static void an_mp_table_names_cpus_that_are_enabled(void **state)
{
	static const u8 bus[8] = {1, 0, 'I', 'S', 'A', ' ', ' ', ' '};

	(void)state;
	begin("PCMP");
	add_processor(0, 3);
	add(bus, sizeof(bus));
	add_processor(2, 1);
	add_processor(4, 0);
	assert_true(read_mp_table());
	assert_int_equal(cpus.count, 2);
	assert_int_equal(ids[0], 0);
	assert_int_equal(ids[1], 2);
}

static void a_cpu_counts_once_and_only_if_there_is_room(void **state)
{
	(void)state;
	begin("APIC");
	for (u8 i = 0; i < 3 * ROOM; i++)
		add_apic(i / 2, 1);
	assert_true(read_madt());
	assert_int_equal(cpus.count, ROOM);
	for (u8 i = 0; i < ROOM; i++)
		assert_int_equal(ids[i], i);
	begin("PCMP");
	for (u8 i = 0; i < 3 * ROOM; i++)
		add_processor(i / 2, 1);
	assert_true(read_mp_table());
	assert_int_equal(cpus.count, ROOM);
}

/* The one CPU in front of what is wrong is there, and reading has an end. */
static void entries_that_are_not_whole_end_the_table(void **state)
{
	static const u8 lengths[] = {0, 1, 9, 255};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
		begin("APIC");
		add_apic(1, 1);
		add_apic(2, 1);
		table[length - 7] = lengths[i];
		assert_true(read_madt());
		assert_int_equal(cpus.count, 1);
	}
	begin("PCMP");
	add_processor(1, 1);
	add_processor(2, 1);
	length -= 1;
	assert_true(read_mp_table());
	assert_int_equal(cpus.count, 1);
}

static void a_short_entry_of_the_type_is_none(void **state)
{
	static const u8 entry[4] = {0, 4, 0, 7};

	(void)state;
	begin("APIC");
	add(entry, sizeof(entry));
	add_apic(1, 1);
	assert_true(read_madt());
	assert_int_equal(cpus.count, 1);
	assert_int_equal(ids[0], 1);
}

static void what_is_no_table_adds_nothing(void **state)
{
	(void)state;
	for (u32 change = 0; change < 4; change++) {
		begin(change == 0 ? "APIX" : "APIC");
		add_apic(1, 1);
		end(9);
		if (change == 1)
			table[ENTRIES + 3]++;
		if (change == 2)
			table[5] = (FIRMWARE_TABLE_MAXIMUM >> 8) + 1;
		if (change == 3)
			table[4] = ENTRIES - 1;
		assert_false(madt_read(table, sizeof(table), &cpus));
		memcpy(table, change == 0 ? "PCMX" : "PCMP", 4);
		assert_false(mp_table_read(table, sizeof(table), &cpus));
		assert_int_equal(cpus.count, 0);
	}
	begin("APIC");
	assert_false(madt_read(table, ENTRIES - 1, &cpus));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_madt_names_cpus_that_are_enabled),
		cmocka_unit_test(an_mp_table_names_cpus_that_are_enabled),
		cmocka_unit_test(a_cpu_counts_once_and_only_if_there_is_room),
		cmocka_unit_test(entries_that_are_not_whole_end_the_table),
		cmocka_unit_test(a_short_entry_of_the_type_is_none),
		cmocka_unit_test(what_is_no_table_adds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
