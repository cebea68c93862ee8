/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's 8254, as it measures and waits: for how long, and how often it asks the chip. What
 * the chip counts here passes with the accesses to its ports alone.
 */
#include "unit.h"

#include <string.h>

#include "platform/pc/i8254.h"
#include "fake/asked.h"

enum { COUNTER_2 = 0x42, CONTROL, PORT_61 = 0x61 };
enum { MODE_0 = 0xb0, MODE_2 = 0xb4, LATCH = 0x80, GATE = 0x01, SPEAKER = 0x02, OUTPUT = 0x20 };
#define TICKS_PER_CLOCK 838u /* of the TSC: it has about 1 GHz */
#define ALL UINT32_MAX

static struct {
	u32 count, passed;     /* the count that was written, and clocks since then */
	u32 clocks_per_access;
	u32 jump_at, jump;     /* once so many clocks have passed, so many more do in a moment */
	u8 port_61, mode, latched[2];
	unsigned bytes_written, bytes_read, latches, looks;
} chip;

static void time_passes(void)
{
	chip.passed += chip.clocks_per_access;
	if (chip.passed >= chip.jump_at) {
		chip.passed += chip.jump;
		chip.jump_at = ALL;
	}
	processor.tsc += chip.clocks_per_access * (u64)TICKS_PER_CLOCK;
}

u8 inb(u16 port)
{
	time_passes();
	if (port == COUNTER_2)
		return chip.latched[chip.bytes_read++ % 2];
	assert_int_equal(port, PORT_61);
	chip.looks++;
	return (u8)(chip.port_61 | (chip.passed >= chip.count ? OUTPUT : 0));
}

void outb(u16 port, u8 value)
{
	time_passes();
	switch (port) {
	case PORT_61:
		chip.port_61 = value & 0x0f; /* the others can only be read */
		break;
	case CONTROL:
		assert_true(value == MODE_0 || value == MODE_2 || value == LATCH);
		if (value != LATCH)
			chip.mode = value;
		chip.latches += value == LATCH;
		chip.bytes_read = 0;
		chip.latched[0] = (u8)(chip.count - chip.passed);
		chip.latched[1] = (u8)((chip.count - chip.passed) >> 8);
		break;
	default:
		assert_int_equal(port, COUNTER_2);
		chip.count = chip.bytes_written++ % 2 == 0 ? value : chip.count | (u32)value << 8;
		chip.passed = 0;
	}
}

static int start(void **state)
{
	(void)state;
	memset(&chip, 0, sizeof(chip));
	memset(&processor, 0, sizeof(processor));
	chip.clocks_per_access = 1;
	chip.jump_at = ALL;
	return 0;
}

static void a_wait_ends_with_its_clocks(void **state)
{
	static const u32 waits[] = { 1, 99, 100, 101, 256, 11932, 65535 };

	(void)state;
	for (unsigned i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		u64 start = i8254_wait(waits[i]);

		assert_int_equal(processor.tsc - start, (u64)chip.passed * TICKS_PER_CLOCK);
		assert_int_equal(chip.count, waits[i]);
		assert_in_range(chip.passed, waits[i], waits[i] + 1);
	}
}

static void the_speaker_is_silent_and_the_gate_open(void **state)
{
	(void)state;
	chip.port_61 = 0x0c | SPEAKER;
	i8254_wait(10);
	assert_int_equal(chip.port_61, 0x0c | GATE);
}

/* It is asked for its count before, and for nothing but its output at the end. */
static void the_last_clocks_are_looked_at_one_by_one(void **state)
{
	unsigned latches;

	(void)state;
	i8254_wait(100);
	assert_int_equal(chip.latches, 0);
	assert_in_range(chip.looks, 98, 102);
	i8254_wait(11932);
	latches = chip.latches;
	assert_true(latches > 0);
	chip.clocks_per_access = 20; /* as if each pause took far longer than an access */
	i8254_wait(11932);
	assert_true(chip.latches - latches < latches);
	assert_in_range(chip.passed, 11932, 11932 + 20);
}

static void a_processor_that_was_away_for_the_end_goes_on(void **state)
{
	(void)state;
	chip.jump_at = 5000;
	chip.jump = 20000;
	i8254_wait(11932);
	assert_in_range(chip.passed, 25000, 25010);
}

/* The best of three measurements is that of which nothing was taken. */
static void the_shortest_measurement_counts(void **state)
{
	(void)state;
	assert_in_range(i8254_measure_tsc(), i8254_khz(11932u * TICKS_PER_CLOCK),
			i8254_khz(11940u * TICKS_PER_CLOCK));
	assert_int_equal(chip.bytes_written, 6);
}

/* The frequency is that of the chip's own clock, to the kHz: 10 ms are 11,931.82 of its clocks. */
static void a_measurement_is_not_taken_for_10_ms(void **state)
{
	(void)state;
	assert_int_equal(i8254_khz(11932u * TICKS_PER_CLOCK), 1193182ull * TICKS_PER_CLOCK / 1000);
	assert_int_equal(i8254_khz(10000150), 999999);
	assert_int_equal(i8254_khz(10000153), 1000000);
}

/* From the second byte of the count on, whatever was before. A count is that of its latch. */
static void a_count_goes_up_with_the_clocks(void **state)
{
	u16 count = 0;

	(void)state;
	i8254_wait(777);
	for (u32 pause = 0; pause < 200000; pause += 311) {
		chip.clocks_per_access = 1;
		i8254_count_begin();
		assert_int_equal(chip.mode, MODE_2);
		assert_int_equal(chip.count, 0);
		assert_int_equal(chip.bytes_written % 2, 0);
		for (unsigned i = 0; i < 3; i++) {
			u32 passed;

			chip.passed += pause;
			i8254_latch();
			passed = chip.passed;
			chip.clocks_per_access = 1000 * i;
			count = i8254_count();
			assert_int_equal(count, (u16)passed);
			assert_int_equal(chip.bytes_read, 2);
		}
	}
	assert_int_not_equal(count, 0);
}

static void to_count_the_gate_is_open(void **state)
{
	(void)state;
	chip.port_61 = 0x0c | SPEAKER;
	i8254_count_begin();
	assert_int_equal(chip.port_61, 0x0c | GATE);
}

/* The chip has no more than a latch to do: it is the point of time. */
static void a_latch_is_one_access(void **state)
{
	(void)state;
	i8254_count_begin();
	processor.tsc = 0;
	i8254_latch();
	assert_int_equal(processor.tsc, TICKS_PER_CLOCK);
	assert_int_equal(chip.latches, 1);
}

static void a_wait_ends_a_count(void **state)
{
	(void)state;
	i8254_count_begin();
	i8254_wait(11932);
	assert_int_equal(chip.mode, MODE_0);
	assert_in_range(chip.passed, 11932, 11933);
	i8254_count_begin();
	chip.passed = 100;
	i8254_latch();
	assert_int_equal(i8254_count(), 101);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wait_ends_with_its_clocks),
		TEST(the_speaker_is_silent_and_the_gate_open),
		TEST(the_last_clocks_are_looked_at_one_by_one),
		TEST(a_processor_that_was_away_for_the_end_goes_on),
		TEST(the_shortest_measurement_counts),
		TEST(a_measurement_is_not_taken_for_10_ms),
		TEST(a_count_goes_up_with_the_clocks),
		TEST(to_count_the_gate_is_open),
		TEST(a_latch_is_one_access),
		TEST(a_wait_ends_a_count),
	};

	return RUN_TESTS(tests);
}
