/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local APIC: what a guest may write to it, and that the VMM has it as it was behind.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "platform/pc/apic.h"
#include "platform/pc/i8254.h"
#include "arch/ia32/memory.h"
#include "fake/map_at.h"
#include "fake/asked.h"

#define BASE 0xfee00000u
#define SPURIOUS 0xf0u
#define IN_SERVICE 0x100u
#define COMMAND 0x300u
#define LVT_TIMER 0x320u
#define LVT_LINT0 0x350u
#define LVT_LINT1 0x360u
#define MASKED 0x10000u

static unsigned maps;

static u32 *at(u32 offset)
{
	return (u32 *)(uintptr_t)(LAYOUT_APIC + offset);
}

void memory_map_device(u32 linear, u32 physical)
{
	assert_int_equal(linear, LAYOUT_APIC);
	assert_int_equal(physical, BASE);
	maps++;
}

u64 i8254_wait(u32 clocks)
{
	(void)clocks;
	*at(0x390) = 0xffffffff - 1000000;
	processor.tsc += 10000000;
	return 0;
}

static int start(void **state)
{
	(void)state;
	memset(at(0), 0, PAGE_SIZE);
	memset(&processor, 0, sizeof(processor));
	processor.features = 1u << 9;
	processor.apic_base = BASE | 0x100;
	apic_base = maps = 0;
	assert_true(apic_init());
	return 0;
}

static void it_is_found(void **state)
{
	(void)state;
	assert_int_equal(maps, 1);
	assert_int_equal(apic_base, BASE | 0x900);
	assert_int_equal(processor.apic_base, BASE | 0x900);
	processor.features = 0;
	apic_base = 0;
	assert_false(apic_init());
	assert_int_equal(apic_base, 0);
}

static void the_highest_in_service_counts(void **state)
{
	(void)state;
	assert_int_equal(apic_in_service(), 0);
	*at(IN_SERVICE + 0x10) = 1u << 17;
	assert_int_equal(apic_in_service(), 0x31);
	*at(IN_SERVICE + 0x70) = 0x80000001;
	assert_int_equal(apic_in_service(), 0xff);
	apic_base = 0;
	assert_int_equal(apic_in_service(), 0);
}

/* What is in the register behind a store. */
static u32 stored(u32 offset, u32 value)
{
	*at(offset) = 0x77;
	apic_write_for_guest(offset, value);
	return *at(offset);
}

static void interrupts_with_vectors_of_the_guest_pass(void **state)
{
	(void)state;
	for (u32 offset = 0x2f0; offset <= 0x370; offset += 0x10)
		if (offset != COMMAND)
			assert_int_equal(stored(offset, 0x20031), 0x20031);
	assert_int_equal(stored(SPURIOUS, 0x1ff), 0x1ff);
	assert_int_equal(stored(COMMAND, 0x40041), 0x40041);
	assert_int_equal(stored(0xb0, 0), 0);
	assert_int_equal(stored(0x380, 5), 5);
	assert_int_equal(stored(0x3e0, 0xb), 0xb);
}

static void nothing_else_does(void **state)
{
	(void)state;
	for (u32 vector = 0; vector < 0x30; vector++) {
		assert_int_equal(stored(LVT_TIMER, 0x20000 | vector), 0x30000 | vector);
		assert_int_equal(stored(SPURIOUS, 0x100 | vector), 0x77);
		assert_int_equal(stored(COMMAND, 0x40000 | vector), 0x77);
	}
	/* Those of messages. */
	for (u32 vector = 0xf0; vector < 0xf3; vector++) {
		assert_int_equal(stored(LVT_TIMER, 0x20000 | vector), 0x30000 | vector);
		assert_int_equal(stored(SPURIOUS, 0x100 | vector), 0x77);
		assert_int_equal(stored(COMMAND, 0x40000 | vector), 0x77);
	}
	for (u32 mode = 0x100; mode < 0x700; mode += 0x100) {
		assert_int_equal(stored(LVT_LINT1, mode | 0x40), MASKED | mode | 0x40);
		assert_int_equal(stored(COMMAND, 0x40000 | mode | 0x40), 0x77);
	}
	for (u32 shorthand = 0; shorthand < 0x100000; shorthand += 0x80000)
		assert_int_equal(stored(COMMAND, shorthand | 0x41), 0x77);
	assert_int_equal(stored(COMMAND, 0xc0041), 0x77);
	assert_int_equal(stored(LVT_LINT1, 0x700), MASKED | 0x700);
	assert_int_equal(stored(0, 0x4500), 0x77);
	assert_int_equal(stored(0x70, 0), 0x77);
	assert_int_equal(stored(COMMAND + 4, 0x40041), 0x77);
	assert_int_equal(stored(0x3f0, 0x41), 0x77);
	assert_int_equal(stored(0x500, 0x41), 0x77);
}

static void the_8259s_are_let_through_or_not(void **state)
{
	(void)state;
	assert_false(apic_write_for_guest(0xb0, 0));
	assert_false(apic_write_for_guest(LVT_LINT0, 0x700));
	assert_int_equal(*at(LVT_LINT0), 0x700);
	assert_true(apic_write_for_guest(LVT_LINT0, 0x10700));
	assert_true(apic_write_for_guest(0xb0, 0));
	assert_true(apic_write_for_guest(LVT_LINT0, 0x400));
}

static void the_vmm_takes_it_back(void **state)
{
	static const u16 registers[] = {0x80, SPURIOUS, LVT_LINT0, LVT_LINT1, 0x370, 0x3e0};
	u32 before[ARRAY_SIZE(registers)];

	(void)state;
	apic_timer.start();
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++) {
		before[i] = *at(registers[i]);
		apic_write_for_guest(registers[i], 0xf5);
		assert_int_not_equal(*at(registers[i]), before[i]);
	}
	*at(0x380) = 77;
	apic_timer.start();
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++)
		assert_int_equal(*at(registers[i]), before[i]);
	assert_int_equal(*at(0x380), 0);
	assert_int_equal(*at(LVT_TIMER), VECTOR_APIC_TIMER);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_found),
		TEST(the_highest_in_service_counts),
		TEST(interrupts_with_vectors_of_the_guest_pass),
		TEST(nothing_else_does),
		TEST(the_8259s_are_let_through_or_not),
		TEST(the_vmm_takes_it_back),
	};

	if (!map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	return RUN_TESTS(tests);
}
