/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores of a guest that the VMM emulates, because where they go is read-only in the shadow: to the
 * alias of the shared page, the GDT and the local APIC.
 */
#include "unit.h"

#include "fake/emulate.h"

static void the_store_to_the_alias_sets_the_flag(void **state)
{
	(void)state;
	/* movl $0x200, alias */
	linear_put(CODE, "\xc7\x05\x00\x10\x00\xfc\x00\x02\x00\x00", 10);
	assert_true(emulate_alias_store(&x86));
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	assert_int_equal(frame.eip, CODE + 10);
	/* movl %eax, alias */
	frame.eip = CODE;
	frame.eax = 0;
	linear_put(CODE, "\xa3\x00\x10\x00\xfc", 5);
	assert_true(emulate_alias_store(&x86));
	assert_int_equal(shared.interrupt_flag, 0);
	/* Another address, another size, another instruction. */
	frame.eip = CODE;
	linear_put(CODE, "\xa3\x04\x10\x00\xfc", 5);
	assert_false(emulate_alias_store(&x86));
	linear_put(CODE, "\x66\xa3\x00\x10\x00\xfc", 6);
	assert_false(emulate_alias_store(&x86));
	linear_put(CODE, "\x01\x05\x00\x10\x00\xfc", 6);
	assert_false(emulate_alias_store(&x86));
	assert_int_equal(frame.eip, CODE);
}

static void stores_to_the_gdt_are_seen(void **state)
{
	(void)state;
	/* movl %eax, 20 * 8 (GDT); the other half was there already */
	put_word(GDT + 20 * 8 + 4, 0x00cf9200);
	frame.eax = 0x0000ffff;
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	emulate_store(&x86, GDT + 20 * 8, false);
	assert_int_equal(x86.shadow.protected_page, GDT);
	assert_int_equal(word(GDT + 20 * 8), 0xffff);
	assert_int_equal(frame.eip, CODE + 5);
	assert_int_equal(descriptor_dpl(real_tables.gdt[20]), 1);
	assert_int_equal(asked.stops, 0);
	/* Across two entries: both are read again, and no other. */
	put_word(GDT + 21 * 8 + 4, 0x00cf9200);
	put_word(GDT + 22 * 8, 0x1234);
	put_word(GDT + 22 * 8 + 4, 0x00409200);
	put_word(GDT + 23 * 8 + 4, 0x00cf9200);
	frame.eip = CODE;
	frame.eax = 0x5678f300;
	linear_put(CODE, "\xa3\xae\x00\x01\x00", 5);
	emulate_store(&x86, GDT + 21 * 8 + 6, false);
	assert_int_equal(real_tables.gdt[21] >> 56, 0xf3);
	assert_int_equal(real_tables.gdt[22] & 0xffff, 0x5678);
	assert_int_equal(real_tables.gdt[23], 0);
}

static void stores_to_the_gdts_page_stay_in_it_or_stop(void **state)
{
	(void)state;
	/* Behind the entries that a guest has, and behind the table's end. */
	linear_put(CODE, "\xa3\xfc\x0f\x01\x00", 5);
	emulate_store(&x86, GDT + 0xffc, false);
	assert_int_equal(asked.stops, 0);
	linear_put(CODE, "\xf3\xa4", 2);
	frame.eip = CODE;
	emulate_store(&x86, GDT, false);
	assert_int_equal(asked.stops, 1);
	/* Out of its page, and into it from the one before. */
	linear_put(CODE, "\xa3\xfe\x0f\x01\x00", 5);
	emulate_store(&x86, GDT + 0xffe, false);
	assert_int_equal(asked.stops, 2);
	linear_put(CODE, "\xa3\xfe\xff\x00\x00", 5);
	emulate_store(&x86, GDT, false);
	assert_int_equal(asked.stops, 3);
	linear_put(CODE, "\xa3\x00\x00\x01\x00", 5);
	emulate_store(&x86, GDT, false);
	assert_int_equal(asked.stops, 3);
}

/* MOV of each register to an address in the instruction, as Linux's native_load_tls() has it. */
static void frequent_stores_to_the_gdt_take_the_short_way(void **state)
{
	u32 *const registers[] = {&frame.eax, &frame.ecx, &frame.edx, &frame.ebx,
				  &frame.esp, &frame.ebp, &frame.esi, &frame.edi};
	u32 taken = vcpu.counters[COUNTER_gdt_quick_writes];

	(void)state;
	put_word(GDT + 20 * 8 + 4, 0x00cf9200);
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++) {
		const char code[] = {(char)0x89, (char)(i << 3 | 5), (char)0xa0, 0, 1, 0};

		*registers[i] = 0x1000 + i;
		frame.eip = CODE;
		linear_put(CODE, code, sizeof(code));
		assert_true(emulate_gdt_store(&x86, GDT + 20 * 8));
		assert_int_equal(frame.eip, CODE + 6);
		assert_int_equal(word(GDT + 20 * 8), 0x1000 + i);
		assert_int_equal(real_tables.gdt[20] & 0xffff, 0x1000 + i);
	}
	frame.eax = 0x1234;
	frame.eip = CODE;
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	assert_true(emulate_gdt_store(&x86, GDT + 20 * 8));
	assert_int_equal(frame.eip, CODE + 5);
	assert_int_equal(real_tables.gdt[20] & 0xffff, 0x1234);
	assert_int_equal(vcpu.counters[COUNTER_gdt_quick_writes] - taken, 9);
}

/* It would change nothing; but a segment that stayed as it was while loaded is still there. */
static void a_store_of_what_is_there_reads_no_descriptor_that_is_absent(void **state)
{
	(void)state;
	put_word(GDT + 20 * 8, 0);
	put_word(GDT + 20 * 8 + 4, 0);
	frame.eax = 0;
	frame.eip = CODE;
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	real_tables.gdt[20] = 0x77;
	assert_true(emulate_gdt_store(&x86, GDT + 20 * 8));
	assert_int_equal(real_tables.gdt[20], 0x77);
	real_tables.gdt[20] = DESCRIPTOR_PRESENT | 0x77;
	frame.eip = CODE;
	assert_true(emulate_gdt_store(&x86, GDT + 20 * 8));
	assert_int_equal(real_tables.gdt[20], 0);
	/* Either half of any entry. */
	for (u32 i = 40; i < 48; i++) {
		const char code[] = {(char)0xa3, (char)(i * 4), 0, 1, 0};

		put_word(GDT + i * 4, 0);
		real_tables.gdt[i / 2] = 0x77;
		frame.eip = CODE;
		linear_put(CODE, code, sizeof(code));
		assert_true(emulate_gdt_store(&x86, GDT + i * 4));
		assert_int_equal(real_tables.gdt[i / 2], 0x77);
	}
}

/* What a segment register has loaded stays as it is while the guest writes the entry beside it. */
static void a_store_reads_no_entry_beside_it_again(void **state)
{
	(void)state;
	for (u32 i = 20; i < 23; i++)
		put_word(GDT + i * 8 + 4, 0x00cf9200);
	for (u32 half = 0; half < 8; half += 4) {
		memset(&real_tables.gdt[20], 0, 3 * sizeof(u64));
		frame.eip = CODE;
		frame.eax = 0x00cf9300;
		linear_put(CODE, half == 0 ? "\xa3\xa8\x00\x01\x00" : "\xa3\xac\x00\x01\x00", 5);
		assert_true(emulate_gdt_store(&x86, GDT + 21 * 8 + half));
		assert_int_equal(real_tables.gdt[20], 0);
		assert_int_not_equal(real_tables.gdt[21], 0);
		assert_int_equal(real_tables.gdt[22], 0);
	}
}

/* The entry is the one that the store hits, wherever in its page the table begins. */
static void a_gdt_may_begin_amid_a_page(void **state)
{
	const u32 table = GDT + 0x640;

	(void)state;
	memcpy(linear_at(table), linear_at(GDT), 256);
	memset(linear_at(GDT), 0, 256);
	x86.gdt_base = table;
	emulate_reload_gdt(&x86);
	put_word(table + 20 * 8 + 4, 0x00cf9200);
	frame.eax = 0x1234;
	linear_put(CODE, "\xa3\xe0\x06\x01\x00", 5);
	assert_true(emulate_gdt_store(&x86, table + 20 * 8));
	assert_int_equal(real_tables.gdt[20] & 0xffff, 0x1234);
	frame.eip = CODE;
	frame.eax = 0x5678;
	emulate_store(&x86, table + 20 * 8, false);
	assert_int_equal(real_tables.gdt[20] & 0xffff, 0x5678);
	assert_int_equal(asked.stops, 0);
}

static void other_stores_to_the_gdt_do_not(void **state)
{
	static const struct {
		u32 offset;
		const char *code;
		u32 size;
	} others[] = {
		{20 * 8, "\x89\x03", 2}, {20 * 8, "\x89\x43\x00", 3},
		{20 * 8, "\x66\xa3\xa0\x00\x01\x00", 6}, {20 * 8, "\xa2\xa0\x00\x01\x00", 5},
		{20 * 8, "\xc7\x05\xa0\x00\x01\x00\x01\x02\x03\x04", 10},
		{20 * 8, "\x01\x05\xa0\x00\x01\x00", 6}, {20 * 8 + 2, "\xa3\xa2\x00\x01\x00", 5},
		{0, "\xa3\x00\x00\x01\x00", 5}, {0, "\xa3\xfe\xff\x00\x00", 5},
	};

	(void)state;
	frame.eip = CODE;
	for (u32 i = 0; i < ARRAY_SIZE(others); i++) {
		linear_put(CODE, others[i].code, others[i].size);
		assert_false(emulate_gdt_store(&x86, GDT + others[i].offset));
		assert_int_equal(frame.eip, CODE);
	}
}

static void stores_to_the_apic_are_handed_on(void **state)
{
	(void)state;
	/* movl %eax, 0xb0(%ebx) */
	frame.eax = 0x12345678;
	linear_put(CODE, "\x89\x83\xb0\x00\x00\x00", 6);
	emulate_store(&x86, 0xd00000b0, true);
	assert_int_equal(x86.shadow.protected_page, 0);
	assert_int_equal(apic_offset, 0xb0);
	assert_int_equal(apic_value, 0x12345678);
	assert_int_equal(frame.eip, CODE + 6);
	assert_int_equal(asked.stops, 0);
	/* A byte of it. */
	apic_offset = 0;
	frame.eip = CODE;
	linear_put(CODE, "\x88\x83\xb0\x00\x00\x00", 6);
	emulate_store(&x86, 0xd00000b0, true);
	assert_int_equal(apic_offset, 0);
	assert_int_equal(asked.stops, 1);
	assert_string_equal(asked.stop_reason, "it writes its APIC at d00000b0 in an unknown way");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_store_to_the_alias_sets_the_flag),
		TEST(stores_to_the_gdt_are_seen),
		TEST(stores_to_the_gdts_page_stay_in_it_or_stop),
		TEST(frequent_stores_to_the_gdt_take_the_short_way),
		TEST(a_store_of_what_is_there_reads_no_descriptor_that_is_absent),
		TEST(a_store_reads_no_entry_beside_it_again),
		TEST(a_gdt_may_begin_amid_a_page),
		TEST(other_stores_to_the_gdt_do_not),
		TEST(stores_to_the_apic_are_handed_on),
	};

	return RUN_TESTS(tests);
}
