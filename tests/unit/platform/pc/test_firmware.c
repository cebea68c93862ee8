/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's tables of CPUs: where they are searched for, and what is taken from whole and
 * from damaged ones.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "arch/ia32/memory.h"
#include "platform/pc/firmware.h"

/* Physical memory: what lies below 1 MiB, and some near the end of 128 MiB. The rest is a bus that
 * nobody drives. */
#define LOW_SIZE 0x100000u
#define HIGH 0x7fe0000u
#define HIGH_SIZE 0x4000u
#define EXTENDED 0x9f000u
#define ROOM 8u

static u8 low[LOW_SIZE], high[HIGH_SIZE];
/* The table that a test is making. */
static u8 table[2 * FIRMWARE_TABLE_MAXIMUM];
static u32 used;
static u8 ids[ROOM + 1];
static struct firmware_cpus cpus;
/* The end of this page is the end of what may be read. */
static u8 *guarded;

/* Own stand-ins: memory_copy_in() has the firmware's memory. */
void memory_copy_in(void *to, u32 from, u32 size)
{
	for (u32 i = 0; i < size; i++, from++)
		((u8 *)to)[i] = from < LOW_SIZE               ? low[from]
				: from - HIGH < HIGH_SIZE     ? high[from - HIGH]
							      : 0xff;
}

static void put(const void *bytes, u32 size)
{
	assert_true(used + size <= sizeof(table));
	memcpy(table + used, bytes, size);
	used += size;
}

#define PUT(...)                                            \
	do {                                                \
		static const u8 bytes[] = {__VA_ARGS__};    \
		put(bytes, sizeof(bytes));                  \
	} while (0)

/* Makes the sum of the first bytes of something 0, by one of them. */
static void seal(u8 *bytes, u32 size, u32 checksum)
{
	bytes[checksum] = 0;
	for (u32 i = 0; i < size; i++)
		if (i != checksum)
			bytes[checksum] = (u8)(bytes[checksum] - bytes[i]);
}

/* The MADT, as SeaBIOS and QEMU make it. */

static void madt_begin(void)
{
	used = 0;
	PUT('A', 'P', 'I', 'C', 0, 0, 0, 0, 1, 0, 'B', 'O', 'C', 'H', 'S', ' ', 'B', 'X', 'P', 'C',
	    ' ', ' ', ' ', ' ', 1, 0, 0, 0, 'B', 'X', 'P', 'C', 1, 0, 0, 0,
	    0, 0, 0xe0, 0xfe, 1, 0, 0, 0);
}

static void madt_add(u8 id, bool enabled)
{
	const u8 entry[] = {0, 8, (u8)(id + 0x40), id, enabled, 0, 0, 0};

	put(entry, sizeof(entry));
}

/* The I/O APIC, an interrupt that is another one there, and all CPUs' NMI. */
static void madt_add_rest(void)
{
	PUT(1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0);
	PUT(2, 10, 0, 5, 5, 0, 0, 0, 13, 0);
	PUT(4, 6, 0xff, 0, 0, 1);
}

static void madt_seal(u32 length)
{
	memcpy(table + 4, &length, sizeof(length));
	seal(table, minimum(length, sizeof(table)), 9);
}

/* The MP table, as SeaBIOS and Bochs' BIOS make it. */

static void mp_begin(void)
{
	used = 0;
	PUT('P', 'C', 'M', 'P', 0, 0, 4, 0, 'B', 'O', 'C', 'H', 'S', 'C', 'P', 'U',
	    '0', '.', '1', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', 0, 0, 0, 0, 0, 0, 18, 0,
	    0, 0, 0xe0, 0xfe, 0, 0, 0, 0);
}

static void mp_add(u8 id, u8 flags)
{
	const u8 entry[20] = {0, id, 0x14, flags, 0, 6, 0, 0, 1, 2};

	put(entry, sizeof(entry));
}

/* A bus, the I/O APIC, and interrupts that lead to it and to the local APICs. */
static void mp_add_rest(void)
{
	PUT(1, 0, 'I', 'S', 'A', ' ', ' ', ' ');
	PUT(2, 0, 0x11, 1, 0, 0, 0xc0, 0xfe);
	PUT(3, 0, 0, 0, 0, 1, 0, 1);
	PUT(4, 3, 0, 0, 0, 0, 0, 0);
}

static void mp_seal(u32 length)
{
	table[4] = (u8)length;
	table[5] = (u8)(length >> 8);
	seal(table, minimum(length, sizeof(table)), 7);
}

/* What either function is asked. */

static void expect(u32 count, ...)
{
	va_list arguments;

	assert_int_equal(cpus.count, count);
	va_start(arguments, count);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(ids[i], va_arg(arguments, int));
	va_end(arguments);
	assert_int_equal(ids[cpus.room], 0xee);
}

static void forget(u32 room)
{
	memset(ids, 0xee, sizeof(ids));
	/* What is not counted is none. */
	for (u32 i = 0; i < room; i++)
		ids[i] = (u8)i;
	cpus = (struct firmware_cpus){0, room, ids};
}

/* Has so many bytes of the table read, behind which there is none. */
static bool reads(bool (*read)(const u8 *, u32, struct firmware_cpus *), u32 size)
{
	u8 *at = guarded + PAGE_SIZE - size;

	memcpy(at, table, size);
	forget(cpus.room);
	return read(at, size, &cpus);
}

static int start(void **state)
{
	(void)state;
	memset(low, 0, sizeof(low));
	memset(high, 0, sizeof(high));
	forget(ROOM);
	return 0;
}

static void cpus_of_a_madt_are_in_its_order(void **state)
{
	(void)state;
	madt_begin();
	madt_add(0, true);
	madt_add(2, true);
	madt_add_rest();
	madt_add(1, true);
	madt_seal(used);
	assert_true(reads(madt_read, used));
	expect(3, 0, 2, 1);
	/* Nothing of what lies behind it counts. */
	madt_add(3, true);
	assert_true(reads(madt_read, used));
	expect(3, 0, 2, 1);
}

static void cpus_of_an_mp_table_are_in_its_order(void **state)
{
	(void)state;
	mp_begin();
	mp_add(0, 3);
	mp_add(2, 1);
	mp_add_rest();
	mp_add(1, 1);
	mp_seal(used);
	assert_true(reads(mp_table_read, used));
	expect(3, 0, 2, 1);
	mp_add(3, 1);
	assert_true(reads(mp_table_read, used));
	expect(3, 0, 2, 1);
}

static void a_cpu_that_is_disabled_is_none(void **state)
{
	(void)state;
	madt_begin();
	madt_add(7, false);
	madt_add(1, true);
	/* It can be plugged in, which is another flag. */
	PUT(0, 8, 5, 5, 2, 0, 0, 0);
	madt_seal(used);
	assert_true(reads(madt_read, used));
	expect(1, 1);
	mp_begin();
	mp_add(7, 0);
	mp_add(1, 1);
	mp_add(5, 2);
	mp_seal(used);
	assert_true(reads(mp_table_read, used));
	expect(1, 1);
}

static void an_id_counts_once(void **state)
{
	(void)state;
	madt_begin();
	mp_begin();
	for (u32 i = 0; i < 6; i++)
		mp_add((u8)(4 + i % 2), 1);
	mp_seal(used);
	assert_true(reads(mp_table_read, used));
	expect(2, 4, 5);
	madt_begin();
	for (u32 i = 0; i < 6; i++)
		madt_add((u8)(4 + i % 2), true);
	madt_seal(used);
	assert_true(reads(madt_read, used));
	expect(2, 4, 5);
	/* Also one that was there before: the CPU that asks. */
	cpus = (struct firmware_cpus){1, ROOM, ids};
	ids[0] = 5;
	assert_true(madt_read(table, used, &cpus));
	expect(2, 5, 4);
}

static void there_are_no_more_than_there_is_room_for(void **state)
{
	(void)state;
	madt_begin();
	for (u32 i = 0; i < 12; i++)
		madt_add((u8)i, true);
	madt_seal(used);
	assert_true(reads(madt_read, used));
	expect(8, 0, 1, 2, 3, 4, 5, 6, 7);
	forget(2);
	assert_true(reads(madt_read, used));
	expect(2, 0, 1);
	mp_begin();
	for (u32 i = 0; i < 12; i++)
		mp_add((u8)i, 1);
	mp_seal(used);
	assert_true(reads(mp_table_read, used));
	expect(2, 0, 1);
	forget(0);
	assert_true(reads(mp_table_read, used));
	expect(0);
}

/* Each bit of a table that is wrong has all of it refused. */
static void a_damaged_table_is_none(void **state)
{
	(void)state;
	madt_begin();
	madt_add(1, true);
	madt_seal(used);
	for (u32 bit = 0; bit < used * 8; bit++) {
		table[bit / 8] ^= (u8)(1u << bit % 8);
		assert_false(reads(madt_read, used));
		expect(0);
		table[bit / 8] ^= (u8)(1u << bit % 8);
	}
	assert_true(reads(madt_read, used));
	mp_begin();
	mp_add(1, 1);
	mp_seal(used);
	for (u32 bit = 0; bit < used * 8; bit++) {
		table[bit / 8] ^= (u8)(1u << bit % 8);
		assert_false(reads(mp_table_read, used));
		expect(0);
		table[bit / 8] ^= (u8)(1u << bit % 8);
	}
	assert_true(reads(mp_table_read, used));
}

/* The checksum being right: it is the signature that is not. */
static void another_table_is_none(void **state)
{
	(void)state;
	madt_begin();
	madt_add(1, true);
	for (u32 i = 0; i < 4; i++) {
		table[i] ^= 0x20;
		madt_seal(used);
		assert_false(reads(madt_read, used));
		table[i] ^= 0x20;
	}
	mp_begin();
	mp_add(1, 1);
	for (u32 i = 0; i < 4; i++) {
		table[i] ^= 0x20;
		mp_seal(used);
		assert_false(reads(mp_table_read, used));
		table[i] ^= 0x20;
	}
	expect(0);
}

static void no_byte_is_read_behind_the_end(void **state)
{
	(void)state;
	madt_begin();
	madt_add(1, true);
	madt_seal(used);
	for (u32 size = 0; size < used; size++)
		assert_false(reads(madt_read, size));
	mp_begin();
	mp_add(1, 1);
	mp_seal(used);
	for (u32 size = 0; size < used; size++)
		assert_false(reads(mp_table_read, size));
}

/* A length that is too large, or too small for the head alone, is not believed. */
static void the_length_must_be_possible(void **state)
{
	static const u32 wrong[] = {53, 0xffff, 0x10034, 0x7fffffff, 0x80000000, 0xfffffff8,
				    0xffffffff};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(wrong); i++) {
		madt_begin();
		madt_add(1, true);
		madt_seal(wrong[i]);
		/* The sum of what is there is right, too. */
		seal(table, used, 9);
		assert_false(reads(madt_read, used));
	}
	for (u32 length = 0; length < 44; length++) {
		madt_begin();
		madt_seal(length);
		assert_false(reads(madt_read, used));
		mp_begin();
		mp_seal(length);
		assert_false(reads(mp_table_read, used));
	}
	mp_begin();
	mp_add(1, 1);
	mp_seal(used + 1);
	seal(table, used, 7);
	assert_false(reads(mp_table_read, used));
	madt_begin();
	madt_seal(used);
	assert_true(reads(madt_read, used));
	mp_begin();
	mp_seal(used);
	assert_true(reads(mp_table_read, used));
}

/* An entry of a length that leads nowhere ends the table, and what stood before it counts. */
static void an_entry_without_length_ends_a_madt(void **state)
{
	(void)state;
	for (u8 length = 0; length < 2; length++) {
		const u8 entry[] = {0, length, 9, 9, 1, 0, 0, 0};

		madt_begin();
		madt_add(1, true);
		put(entry, sizeof(entry));
		madt_add(2, true);
		madt_seal(used);
		assert_true(reads(madt_read, used));
		expect(1, 1);
	}
}

/* One of two bytes has neither id nor flags, and the next entry follows at once. */
static void an_entry_that_is_too_short_is_no_cpu(void **state)
{
	(void)state;
	for (u8 length = 2; length < 8; length++) {
		const u8 entry[] = {0, length, 9, 9, 1, 0, 0};

		madt_begin();
		put(entry, length);
		madt_add(2, true);
		madt_seal(used);
		assert_true(reads(madt_read, used));
		expect(1, 2);
	}
	/* A longer one is one, as a later specification may have it. */
	madt_begin();
	PUT(0, 10, 9, 9, 1, 0, 0, 0, 0, 0);
	madt_add(2, true);
	madt_seal(used);
	assert_true(reads(madt_read, used));
	expect(2, 9, 2);
}

static void an_entry_over_the_end_is_not_read(void **state)
{
	(void)state;
	for (u32 rest = 1; rest < 8; rest++) {
		madt_begin();
		madt_add(1, true);
		madt_add(2, true);
		madt_seal(used - 8 + rest);
		assert_true(reads(madt_read, used - 8 + rest));
		expect(1, 1);
	}
	for (u32 rest = 1; rest < 20; rest++) {
		mp_begin();
		mp_add(1, 1);
		mp_add(2, 1);
		mp_seal(used - 20 + rest);
		assert_true(reads(mp_table_read, used - 20 + rest));
		expect(1, 1);
	}
	for (u32 rest = 1; rest < 8; rest++) {
		mp_begin();
		mp_add(1, 1);
		PUT(1, 0, 'I', 'S', 'A', ' ', ' ', ' ');
		mp_seal(used - 8 + rest);
		assert_true(reads(mp_table_read, used - 8 + rest));
		expect(1, 1);
	}
}

/* Where the firmware has its tables */

static u8 *physical(u32 address)
{
	return address < LOW_SIZE ? low + address : high + (address - HIGH);
}

static void extended_data_is_at(u32 address)
{
	u16 segment = (u16)(address >> 4);

	memcpy(low + 0x40e, &segment, sizeof(segment));
}

/* The ACPI root pointer, and a root table with an empty table before the one that was made. */
static void madt_place(u32 pointer, u32 root, u32 address)
{
	const u32 length = 44, other = root + 0x200;

	memcpy(physical(pointer), "RSD PTR \0BOCHS ", 15);
	memcpy(physical(pointer) + 16, &root, sizeof(root));
	seal(physical(pointer), 20, 8);
	physical(pointer)[20] = 0x24;
	memcpy(physical(root), "RSDT", 4);
	memcpy(physical(root) + 4, &length, sizeof(length));
	memcpy(physical(root) + 36, &other, sizeof(other));
	memcpy(physical(root) + 40, &address, sizeof(address));
	seal(physical(root), length, 9);
	memcpy(physical(other), "FACP", 4);
	memcpy(physical(address), table, used);
}

static void mp_place(u32 pointer, u32 address)
{
	static const u8 rest[] = {1, 4, 0, 0, 0, 0, 0, 0x20};

	memcpy(physical(pointer), "_MP_", 4);
	memcpy(physical(pointer) + 4, &address, sizeof(address));
	memcpy(physical(pointer) + 8, rest, sizeof(rest));
	seal(physical(pointer), 16, 10);
	memcpy(physical(address), table, used);
}

static void madt_make(u8 id)
{
	madt_begin();
	madt_add(id, true);
	madt_seal(used);
}

static void mp_make(u8 id)
{
	mp_begin();
	mp_add(id, 1);
	mp_seal(used);
}

static void find(void)
{
	forget(ROOM);
	firmware_find_cpus(&cpus);
}

static void without_tables_there_are_no_cpus(void **state)
{
	(void)state;
	find();
	expect(0);
	memset(low, 0xff, sizeof(low));
	find();
	expect(0);
}

/* Both ends of each range that is searched, and what lies beside them. */
static void pointers_are_found_where_they_may_be(void **state)
{
	static const struct {
		u32 at;
		bool found;
	} places[] = {
		{EXTENDED - 0x10, false}, {EXTENDED, true},  {EXTENDED + 8, false},
		{EXTENDED + 0x3e0, true}, {EXTENDED + 0x400, false},
		{0x9fbf0, false}, {0x9fc00, true}, {0x9ffe0, true}, {0xa0000, false},
		{0xdfff0, false}, {0xe0000, true}, {0xe0010, true}, {0xf5ad0, true},
		{0xf5ad4, false}, {0xfffe0, true},
	};

	for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
		start(state);
		extended_data_is_at(EXTENDED);
		madt_make(3);
		madt_place(places[i].at, HIGH, HIGH + 0x1000);
		find();
		assert_int_equal(cpus.count, places[i].found);
		start(state);
		extended_data_is_at(EXTENDED);
		mp_make(3);
		mp_place(places[i].at, HIGH);
		find();
		assert_int_equal(cpus.count, places[i].found);
	}
}

/* The pointer of 16 bytes may be the last of a range, which that of 20 cannot. */
static void the_last_bytes_of_a_range_count(void **state)
{
	(void)state;
	mp_make(3);
	mp_place(0xffff0, HIGH);
	find();
	expect(1, 3);
	extended_data_is_at(EXTENDED);
	mp_make(4);
	mp_place(EXTENDED + 0x3f0, HIGH + 0x100);
	find();
	expect(1, 4);
}

static void a_damaged_pointer_is_passed_by(void **state)
{
	(void)state;
	madt_make(1);
	madt_place(0xe0000, HIGH, HIGH + 0x1000);
	low[0xe0000 + 9]++;
	find();
	expect(0);
	madt_make(2);
	madt_place(0xf0000, HIGH, HIGH + 0x1000);
	find();
	expect(1, 2);
	start(state);
	mp_make(1);
	mp_place(0xe0000, HIGH);
	low[0xe0000 + 9]++;
	find();
	expect(0);
	mp_place(0xf0000, HIGH);
	find();
	expect(1, 1);
}

/* Only if there is no whole MADT does the MP table count. */
static void the_madt_comes_first(void **state)
{
	(void)state;
	mp_make(1);
	mp_place(0xf0000, HIGH + 0x2000);
	madt_make(2);
	madt_place(0xf0100, HIGH, HIGH + 0x1000);
	find();
	expect(1, 2);
	high[0x1000 + 20]++;
	find();
	expect(1, 1);
	high[0x1000 + 20]--;
	/* The root table no longer reaches to it. */
	high[4] = 43;
	seal(high, 43, 9);
	find();
	expect(1, 1);
	high[4] = 44;
	seal(high, 44, 9);
	find();
	expect(1, 2);
	/* What is damaged is no root table, nor is another one. */
	high[8]++;
	find();
	expect(1, 1);
	memcpy(high, "XSDT", 4);
	seal(high, 44, 9);
	find();
	expect(1, 1);
	memcpy(high, "RSDT", 4);
	seal(high, 44, 9);
	find();
	expect(1, 2);
}

/* A root table claims to be endless, and its entries lead where no memory is. */
static void tables_that_are_nowhere_are_none(void **state)
{
	static const u32 nowhere[] = {0, 4, LOW_SIZE, HIGH - PAGE_SIZE, 0xfffffff0};

	for (u32 i = 0; i < ARRAY_SIZE(nowhere); i++) {
		start(state);
		madt_make(2);
		madt_place(0xf0000, HIGH, HIGH + 0x1000);
		memcpy(low + 0xf0010, &nowhere[i], sizeof(u32));
		seal(low + 0xf0000, 20, 8);
		mp_make(1);
		mp_place(0xf0100, HIGH + 0x2000);
		find();
		expect(1, 1);
		memcpy(low + 0xf0104, &nowhere[i], sizeof(u32));
		seal(low + 0xf0100, 16, 10);
		find();
		expect(0);
	}
	start(state);
	memset(high, 0xff, sizeof(high));
	madt_make(2);
	madt_place(0xf0000, HIGH, HIGH + 0x1000);
	memset(high + 4, 0xff, 4);
	memset(high + 40, 0xff, 4);
	find();
	expect(0);
}

/* The checksum of a table is that of all of it, so it must fit. */
static void the_longest_table_is_as_long_as_the_copy(void **state)
{
	(void)state;
	for (u32 more = 0; more < 2; more++) {
		madt_begin();
		madt_add(1, true);
		while (used + 8 + 10 <= FIRMWARE_TABLE_MAXIMUM)
			madt_add(2, false);
		while (used + 2 <= FIRMWARE_TABLE_MAXIMUM)
			PUT(0x80, 2);
		madt_add(3, true);
		madt_seal(FIRMWARE_TABLE_MAXIMUM + more * 8);
		madt_place(0xf0000, HIGH, HIGH + 0x1000);
		find();
		assert_int_equal(cpus.count, !more);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cpus_of_a_madt_are_in_its_order),
		TEST(cpus_of_an_mp_table_are_in_its_order),
		TEST(a_cpu_that_is_disabled_is_none),
		TEST(an_id_counts_once),
		TEST(there_are_no_more_than_there_is_room_for),
		TEST(a_damaged_table_is_none),
		TEST(another_table_is_none),
		TEST(no_byte_is_read_behind_the_end),
		TEST(the_length_must_be_possible),
		TEST(an_entry_without_length_ends_a_madt),
		TEST(an_entry_that_is_too_short_is_no_cpu),
		TEST(an_entry_over_the_end_is_not_read),
		TEST(without_tables_there_are_no_cpus),
		TEST(pointers_are_found_where_they_may_be),
		TEST(the_last_bytes_of_a_range_count),
		TEST(a_damaged_pointer_is_passed_by),
		TEST(the_madt_comes_first),
		TEST(tables_that_are_nowhere_are_none),
		TEST(the_longest_table_is_as_long_as_the_copy),
	};

	guarded = mmap(NULL, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	if (guarded == MAP_FAILED || mprotect(guarded + PAGE_SIZE, PAGE_SIZE, PROT_NONE) != 0)
		return 1;
	return RUN_TESTS(tests);
}
