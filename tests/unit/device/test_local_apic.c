/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual local APIC: what its registers keep, which interrupt comes next, and when its timer
 * expires (SDM vol. 3, chapter 10).
 */
#include "unit.h"

#include <string.h>

#include "abi/apic.h"
#include "device/local_apic.h"

enum {
	ID = 0x20, VERSION = 0x30, TPR = 0x80, PPR = 0xa0, EOI = 0xb0, LDR = 0xd0, DFR = 0xe0,
	SPURIOUS = 0xf0, ISR = 0x100, IRR = 0x200, ICR_LOW = 0x300, ICR_HIGH = 0x310,
	LVT_TIMER = 0x320, LVT_LINT0 = 0x350, LVT_LINT1 = 0x360, LVT_ERROR = 0x370,
	INITIAL_COUNT = 0x380, CURRENT_COUNT = 0x390, DIVIDE = 0x3e0,
};

#define MASKED 0x10000u
#define PERIODIC 0x20000u
#define EXTERNAL 0x700u
#define ENABLED 0x1ffu
#define TIMER_VECTOR 0xec
#define NOW 5000000000u

static u32 page[1024];
static struct local_apic apic;

static u32 reg(u32 offset)
{
	return page[offset / sizeof(u32)];
}

static bool store(u32 offset, u32 value)
{
	return local_apic_write(&apic, offset, value, NOW);
}

/* A local APIC that its kernel has enabled. */
static int enabled(void **state)
{
	(void)state;
	local_apic_reset(&apic, page, 3, true);
	store(SPURIOUS, ENABLED);
	return 0;
}

static void it_is_reset_as_at_power_on(void **state)
{
	(void)state;
	memset(page, 0xa5, sizeof(page));
	local_apic_reset(&apic, page, 5, false);
	assert_int_equal(reg(ID), 5 << 24);
	assert_int_equal(reg(VERSION), 0x00050014);
	assert_int_equal(reg(SPURIOUS), 0xff);
	assert_int_equal(reg(DFR), ~0u);
	for (u32 offset = LVT_TIMER; offset <= LVT_ERROR; offset += 16)
		assert_int_equal(reg(offset), MASKED);
	assert_int_equal(reg(INITIAL_COUNT) | reg(TPR) | reg(IRR) | reg(ISR), 0);
	assert_int_equal(local_apic_pending(&apic), -1);
	assert_true(local_apic_deadline(&apic) == TIME_NEVER);
}

static void registers_keep_what_they_have(void **state)
{
	static const struct {
		u32 offset, kept;
	} registers[] = {
		{ TPR, 0xff }, { LDR, 0xff000000 }, { DFR, ~0u }, { SPURIOUS, 0x1ff },
		{ ICR_LOW, 0x000ccfff }, { ICR_HIGH, 0xff000000 }, { LVT_TIMER, 0x300ff },
		{ LVT_LINT0, 0x1a7ff }, { LVT_LINT1, 0x1a7ff }, { LVT_ERROR, 0x100ff },
		{ INITIAL_COUNT, ~0u }, { DIVIDE, 0xb }, { GANDALF_APIC_AUTOMATIC_END, 1 },
		{ ID, 3 << 24 }, { VERSION, 0x00050014 }, { IRR, 0 }, { ISR + 16, 0 },
		{ CURRENT_COUNT, 0 }, { 0x3fc, 0 }, { 0, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++) {
		store(registers[i].offset, ~0u);
		assert_int_equal(reg(registers[i].offset), registers[i].kept);
	}
	assert_int_equal(reg(PPR), 0xff);
}

static void a_store_beside_the_page_is_nothing(void **state)
{
	u32 before[1024];

	(void)state;
	memcpy(before, page, sizeof(page));
	for (u32 shift = 12; shift < 32; shift++)
		assert_false(store((1u << shift) | SPURIOUS, 0));
	assert_memory_equal(before, page, sizeof(page));
}

static void the_highest_request_comes_first(void **state)
{
	(void)state;
	local_apic_request(&apic, 0x31);
	local_apic_request(&apic, 0xef);
	local_apic_request(&apic, 0x80);
	assert_int_equal(reg(IRR + 0x10), 1 << 0x11);
	assert_int_equal(reg(IRR + 0x70), 1 << 0xf);
	assert_int_equal(local_apic_pending(&apic), 0xef);
	assert_int_equal(local_apic_acknowledge(&apic), 0xef);
	assert_int_equal(reg(IRR + 0x70), 0);
	assert_int_equal(reg(ISR + 0x70), 1 << 0xf);
	assert_int_equal(reg(PPR), 0xe0);
	assert_int_equal(local_apic_pending(&apic), -1);
	assert_true(store(EOI, 0));
	assert_int_equal(reg(ISR + 0x70), 0);
	assert_int_equal(reg(PPR), 0);
	assert_int_equal(local_apic_acknowledge(&apic), 0x80);
	store(EOI, 0);
	assert_int_equal(local_apic_acknowledge(&apic), 0x31);
}

static void only_a_higher_class_interrupts_a_handler(void **state)
{
	(void)state;
	local_apic_request(&apic, 0x50);
	local_apic_acknowledge(&apic);
	local_apic_request(&apic, 0x5f);
	assert_int_equal(local_apic_pending(&apic), -1);
	local_apic_request(&apic, 0x60);
	assert_int_equal(local_apic_acknowledge(&apic), 0x60);
	store(EOI, 0); /* that of the higher one */
	assert_int_equal(reg(ISR + 0x20), 1 << 0x10);
	assert_int_equal(local_apic_pending(&apic), -1);
	store(EOI, 0);
	assert_int_equal(local_apic_pending(&apic), 0x5f);
}

static void the_task_priority_keeps_its_classes_out(void **state)
{
	(void)state;
	local_apic_request(&apic, 0x7f);
	assert_true(store(TPR, 0x70));
	assert_int_equal(reg(PPR), 0x70);
	assert_int_equal(local_apic_pending(&apic), -1);
	store(TPR, 0x6f);
	assert_int_equal(local_apic_pending(&apic), 0x7f);
}

static void with_automatic_end_nothing_is_in_service(void **state)
{
	(void)state;
	store(GANDALF_APIC_AUTOMATIC_END, 1);
	local_apic_request(&apic, 0xf0);
	local_apic_request(&apic, 0xf1);
	assert_int_equal(local_apic_acknowledge(&apic), 0xf1);
	assert_int_equal(reg(ISR + 0x70), 0);
	assert_int_equal(local_apic_acknowledge(&apic), 0xf0);
	store(EOI, 0); /* ends nothing */
	assert_int_equal(local_apic_pending(&apic), -1);
}

static void vectors_of_exceptions_are_no_interrupts(void **state)
{
	(void)state;
	for (u32 vector = 0; vector < 16; vector++)
		local_apic_request(&apic, vector);
	local_apic_request(&apic, 256);
	for (u32 word = 0; word < 8; word++)
		assert_int_equal(reg(IRR + word * 16), 0);
	local_apic_request(&apic, 16);
	assert_int_equal(local_apic_pending(&apic), 16);
}

static void a_disabled_one_delivers_nothing(void **state)
{
	(void)state;
	store(LVT_LINT0, EXTERNAL);
	assert_true(local_apic_takes_external(&apic));
	local_apic_request(&apic, 0x40);
	store(SPURIOUS, 0xff);
	assert_int_equal(local_apic_pending(&apic), -1);
	assert_int_equal(reg(LVT_LINT0), EXTERNAL | MASKED);
	store(LVT_LINT0, EXTERNAL);
	assert_int_equal(reg(LVT_LINT0), EXTERNAL | MASKED);
	store(SPURIOUS, ENABLED);
	assert_int_equal(local_apic_pending(&apic), 0x40);
}

static void the_8259s_come_by_lint0(void **state)
{
	(void)state;
	assert_false(local_apic_takes_external(&apic));
	store(LVT_LINT0, EXTERNAL | MASKED);
	assert_false(local_apic_takes_external(&apic));
	store(LVT_LINT0, 0x31);
	assert_false(local_apic_takes_external(&apic));
	store(LVT_LINT0, EXTERNAL);
	assert_int_equal(reg(GANDALF_APIC_AUTOMATIC_END), 0);
	/* Of the rest of the page nothing is touched: its owner gets it empty. */
	assert_int_equal(reg(0x400), 0xa5a5a5a5);
	assert_int_equal(reg(GANDALF_APIC_AUTOMATIC_END - 4), 0xa5a5a5a5);
	assert_true(local_apic_takes_external(&apic));
	/* Before it is enabled that of the first vCPU is a wire. */
	store(SPURIOUS, 0xff);
	assert_true(local_apic_takes_external(&apic));
	local_apic_reset(&apic, page, 1, false);
	assert_false(local_apic_takes_external(&apic));
}

static void one_count_ends_once(void **state)
{
	(void)state;
	store(DIVIDE, 0xb); /* by 1 */
	store(LVT_TIMER, TIMER_VECTOR);
	assert_true(store(INITIAL_COUNT, 1000));
	assert_true(local_apic_deadline(&apic) == NOW + 1000ull);
	assert_false(local_apic_expire(&apic, NOW + 999ull));
	assert_true(local_apic_expire(&apic, NOW + 1000ull));
	assert_int_equal(local_apic_pending(&apic), TIMER_VECTOR);
	assert_true(local_apic_deadline(&apic) == TIME_NEVER);
	assert_false(local_apic_expire(&apic, NOW + 2000ull));
	assert_true(local_apic_write(&apic, INITIAL_COUNT, 70, NOW + 5000ull));
	assert_true(local_apic_deadline(&apic) == NOW + 5070ull);
	store(INITIAL_COUNT, 0);
	assert_true(local_apic_deadline(&apic) == TIME_NEVER);
	assert_false(local_apic_expire(&apic, NOW + 9999ull));
}

static void periods_are_counted_from_the_start(void **state)
{
	(void)state;
	store(DIVIDE, 0xb);
	store(LVT_TIMER, TIMER_VECTOR | PERIODIC);
	store(INITIAL_COUNT, 1000);
	assert_true(local_apic_expire(&apic, NOW + 1003ull));
	assert_true(local_apic_deadline(&apic) == NOW + 2000ull);
	/* Those that came late are one request. */
	assert_true(local_apic_expire(&apic, NOW + 5999ull));
	assert_true(local_apic_deadline(&apic) == NOW + 6000ull);
	local_apic_acknowledge(&apic);
	store(EOI, 0);
	assert_int_equal(local_apic_pending(&apic), -1);
	assert_false(local_apic_expire(&apic, NOW + 5999ull));
}

static void the_bus_clock_is_divided(void **state)
{
	static const u8 values[] = { 0xb, 0x0, 0x1, 0x2, 0x3, 0x8, 0x9, 0xa };

	(void)state;
	store(LVT_TIMER, TIMER_VECTOR);
	for (u32 shift = 0; shift < ARRAY_SIZE(values); shift++) {
		u64 period = 0xffffffffull << shift;

		store(DIVIDE, values[shift]);
		store(INITIAL_COUNT, 0xffffffff);
		assert_true(local_apic_deadline(&apic) == NOW + period);
		assert_false(local_apic_expire(&apic, NOW + period - 1));
		assert_true(local_apic_expire(&apic, NOW + period));
	}
}

static void a_masked_timer_requests_nothing(void **state)
{
	(void)state;
	store(LVT_TIMER, TIMER_VECTOR | PERIODIC | MASKED);
	store(INITIAL_COUNT, 500);
	assert_true(local_apic_deadline(&apic) == TIME_NEVER);
	assert_false(local_apic_expire(&apic, NOW + 1000ull));
	assert_int_equal(local_apic_pending(&apic), -1);
	/* It has counted meanwhile. */
	local_apic_write(&apic, LVT_TIMER, TIMER_VECTOR | PERIODIC, NOW + 1200ull);
	assert_true(local_apic_deadline(&apic) == NOW + 2000ull);
}

/* Also one that changes nothing else, or the interrupt would wait for the next look. */
static void an_expiry_that_a_store_finds_is_told(void **state)
{
	(void)state;
	store(DIVIDE, 0xb);
	store(LVT_TIMER, TIMER_VECTOR);
	store(INITIAL_COUNT, 100);
	assert_false(local_apic_write(&apic, ICR_HIGH, 0, NOW + 99ull));
	assert_true(local_apic_write(&apic, ICR_HIGH, 0, NOW + 100ull));
	assert_int_equal(local_apic_pending(&apic), TIMER_VECTOR);
	assert_false(local_apic_write(&apic, 0x400, 0, NOW + 101ull));
}

/* Returns the vector that must come next, from the registers that the guest sees. */
static int expected_pending(void)
{
	u32 floor = reg(TPR) >> 4;
	int request = -1;

	for (u32 vector = 0; vector < 256; vector++) {
		u32 word = vector / 32 * 16;

		if (reg(ISR + word) >> vector % 32 & 1 && vector >> 4 > floor)
			floor = vector >> 4;
		if (reg(IRR + word) >> vector % 32 & 1)
			request = (int)vector;
	}
	return (reg(SPURIOUS) & 0x100) != 0 && request >> 4 > (int)floor ? request : -1;
}

static void whatever_is_stored_the_page_tells_what_comes(void **state)
{
	u32 random = 0x1234567, delivered = 0;
	u64 now = NOW;

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		u32 what = random_next(&random);

		now += what % 5000;
		if (what % 3 == 0)
			local_apic_request(&apic, what >> 8 & 0x1ff);
		else
			local_apic_write(&apic, (what >> 8 & 0xff) * 16 + (what % 7 == 0),
					 random_next(&random), now);
		if (what % 5 == 0)
			local_apic_expire(&apic, now);
		assert_int_equal(local_apic_pending(&apic), expected_pending());
		assert_true(local_apic_deadline(&apic) > NOW);
		if (what % 2 == 0 && local_apic_pending(&apic) >= 0) {
			local_apic_acknowledge(&apic);
			delivered++;
		}
	}
	assert_true(delivered > 100);
}

static void it_is_open_while_nothing_would_stay_in_it(void **state)
{
	(void)state;
	assert_false(local_apic_is_open(&apic));
	store(GANDALF_APIC_AUTOMATIC_END, 1);
	assert_true(local_apic_is_open(&apic));
	local_apic_request(&apic, 0x40);
	assert_false(local_apic_is_open(&apic));
	assert_int_equal(local_apic_acknowledge(&apic), 0x40);
	assert_true(local_apic_is_open(&apic));
	store(TPR, 0xdf);
	assert_true(local_apic_is_open(&apic));
	store(TPR, 0xe0);
	assert_false(local_apic_is_open(&apic));
	store(TPR, 0);
	store(SPURIOUS, 0xff);
	assert_false(local_apic_is_open(&apic));
	store(SPURIOUS, ENABLED);
	store(GANDALF_APIC_AUTOMATIC_END, 0);
	local_apic_request(&apic, 0x40);
	assert_int_equal(local_apic_acknowledge(&apic), 0x40);
	store(GANDALF_APIC_AUTOMATIC_END, 1);
	assert_false(local_apic_is_open(&apic)); /* one is in service */
	store(EOI, 0);
	assert_true(local_apic_is_open(&apic));
}

/* One that leaves with a handler at work, a request and a timer, into a page that shows what was
 * left there. */
static void it_shows_the_same_in_another_page(void **state)
{
	static u32 other_page[1024];
	struct local_apic other;
	struct local_apic_state saved;

	(void)state;
	local_apic_reset(&other, other_page, 3, true);
	local_apic_write(&other, SPURIOUS, ENABLED, NOW);
	local_apic_request(&other, 0x91);
	store(LVT_TIMER, PERIODIC | TIMER_VECTOR);
	store(DIVIDE, 3);
	store(INITIAL_COUNT, 1000);
	store(GANDALF_APIC_AUTOMATIC_END, 0);
	local_apic_request(&apic, 0x40);
	assert_int_equal(local_apic_acknowledge(&apic), 0x40);
	local_apic_request(&apic, 0xf3);
	local_apic_save(&apic, &saved);
	local_apic_load(&other, &saved);
	assert_ptr_equal(other.page, other_page);
	assert_memory_equal(other_page, page, 0x400);
	assert_int_equal(other_page[GANDALF_APIC_AUTOMATIC_END / sizeof(u32)], 0);
	assert_int_equal(local_apic_deadline(&other), local_apic_deadline(&apic));
	assert_int_equal(local_apic_acknowledge(&other), 0xf3);
	local_apic_write(&other, EOI, 0, NOW);
	local_apic_write(&other, EOI, 0, NOW);
	assert_int_equal(local_apic_pending(&other), -1);
	assert_int_equal(other_page[(ISR + 0x20) / sizeof(u32)], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, enabled)
		TEST(it_is_reset_as_at_power_on),
		TEST(registers_keep_what_they_have),
		TEST(a_store_beside_the_page_is_nothing),
		TEST(the_highest_request_comes_first),
		TEST(only_a_higher_class_interrupts_a_handler),
		TEST(the_task_priority_keeps_its_classes_out),
		TEST(with_automatic_end_nothing_is_in_service),
		TEST(vectors_of_exceptions_are_no_interrupts),
		TEST(a_disabled_one_delivers_nothing),
		TEST(the_8259s_come_by_lint0),
		TEST(one_count_ends_once),
		TEST(periods_are_counted_from_the_start),
		TEST(the_bus_clock_is_divided),
		TEST(a_masked_timer_requests_nothing),
		TEST(an_expiry_that_a_store_finds_is_told),
		TEST(whatever_is_stored_the_page_tells_what_comes),
		TEST(it_is_open_while_nothing_would_stay_in_it),
		TEST(it_shows_the_same_in_another_page),
	};

	return RUN_TESTS(tests);
}
