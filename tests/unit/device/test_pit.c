/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 8254. At 1,193,182 kHz a clock of the timer takes exactly 1000
 * ticks of the time stamp counter, which keeps most expectations readable.
 */
#include "unit.h"

#include "device/pit.h"

#define KHZ 1193182u
#define CLOCK 1000u
#define START 5000000ull

static struct pit reset(void)
{
	struct pit pit;

	pit_reset(&pit, KHZ, START);
	return pit;
}

/* Programs a counter with both bytes. */
static void program(struct pit *pit, unsigned number, u8 mode, u16 count, u64 now)
{
	pit_write(pit, 0x43, (u8)(number << 6 | 0x30u | (unsigned)mode << 1), now);
	pit_write(pit, (u16)(0x40 + number), (u8)count, now);
	pit_write(pit, (u16)(0x40 + number), (u8)(count >> 8), now);
}

static u16 read_both(struct pit *pit, unsigned number, u64 now)
{
	u16 low = pit_read(pit, (u16)(0x40 + number), now);

	return (u16)(low | pit_read(pit, (u16)(0x40 + number), now) << 8);
}

static u16 read_latched(struct pit *pit, unsigned number, u64 now)
{
	pit_write(pit, 0x43, (u8)(number << 6), now);
	return read_both(pit, number, now);
}

static u64 after(u64 clocks)
{
	return START + clocks * CLOCK;
}

static bool speaker_output(struct pit *pit, u64 now)
{
	return pit_read(pit, 0x61, now) & 0x20;
}

static void nothing_happens_unprogrammed(void **state)
{
	struct pit pit = reset();

	(void)state;
	assert_int_equal(pit_deadline(&pit), TIME_NEVER);
	assert_int_equal(pit_expire(&pit, after(1000000)), 0);
	assert_int_equal(read_latched(&pit, 0, START), 0);
	/* Half a count is none. */
	pit_write(&pit, 0x43, 0x34, START);
	pit_write(&pit, 0x40, 1, START);
	assert_int_equal(pit_deadline(&pit), TIME_NEVER);
}

static void the_read_back_command_is_ignored(void **state)
{
	struct pit pit = reset();

	(void)state;
	program(&pit, 0, 2, 1000, START);
	pit_write(&pit, 0x43, 0xc2, after(100));
	assert_int_equal(read_both(&pit, 0, after(200)), 800);
}

/* A new count takes effect at once. */
static void a_new_period_begins_at_once(void **state)
{
	struct pit pit = reset();

	(void)state;
	program(&pit, 0, 2, 100, START);
	pit_write(&pit, 0x40, 30, after(250));
	assert_int_equal(pit_deadline(&pit), after(100));
	pit_write(&pit, 0x40, 0, after(250));
	assert_true(pit_expire(&pit, after(250)));
	assert_int_equal(pit_deadline(&pit), after(280));
	assert_int_equal(read_latched(&pit, 0, after(315)), 25);
}

/* Count and output after so many clocks, in each mode. */
static void counts_and_outputs(void **state)
{
	static const struct {
		u8 mode;
		u16 count;
		u32 clocks;
		u16 value;
		bool output;
	} cases[] = {
		{ 0, 10, 0, 10, false },   { 0, 10, 9, 1, false },
		{ 0, 10, 10, 0, true },    { 0, 10, 11, 0xffff, true },
		{ 0, 10, 70000, 61082, true },
		{ 0, 0, 1, 0xffff, false }, { 0, 0, 65536, 0, true },
		{ 2, 10, 0, 10, true },    { 2, 10, 8, 2, true },
		{ 2, 10, 9, 1, false },    { 2, 10, 10, 10, true },
		{ 2, 10, 109, 1, false },  { 2, 0, 65535, 1, false },
		{ 2, 0, 65536, 0, true },
		{ 3, 10, 0, 10, true },    { 3, 10, 4, 2, true },
		{ 3, 10, 5, 10, false },   { 3, 10, 9, 2, false },
		{ 3, 10, 10, 10, true },   { 3, 5, 2, 0, true },
		{ 3, 5, 3, 4, false },     { 3, 5, 5, 4, true },
		{ 4, 10, 0, 10, true },    { 4, 10, 10, 0, false },
		{ 4, 10, 11, 0xffff, true },
		/* 6 and 7 are 2 and 3; 1 and 5, which need a trigger, are 0 and 4. */
		{ 6, 10, 109, 1, false },  { 7, 10, 4, 2, true },
		{ 1, 10, 10, 0, true },    { 5, 10, 10, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pit pit = reset();
		u64 now = after(cases[i].clocks);

		/* The output of counter 2 can be read. */
		pit_write(&pit, 0x61, 1, START);
		program(&pit, 2, cases[i].mode, cases[i].count, START);
		assert_int_equal(read_latched(&pit, 2, now), cases[i].value);
		assert_int_equal(speaker_output(&pit, now), cases[i].output);
	}
}

static void a_one_shot_expires_once(void **state)
{
	static const struct {
		u8 mode;
		u32 clocks;
	} cases[] = { { 0, 1000 }, { 4, 1000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pit pit = reset();
		u64 due = after(cases[i].clocks);

		program(&pit, 0, cases[i].mode, 1000, START);
		assert_int_equal(pit_deadline(&pit), due);
		assert_int_equal(pit_expire(&pit, due - 1), 0);
		assert_int_equal(pit_deadline(&pit), due);
		assert_int_equal(pit_expire(&pit, due), 1);
		assert_int_equal(pit_deadline(&pit), TIME_NEVER);
		assert_int_equal(pit_expire(&pit, after(10000000)), 0);
		/* A new count alone starts it again. */
		pit_write(&pit, 0x40, 0xe8, after(10000000));
		pit_write(&pit, 0x40, 0x03, after(10000000));
		assert_int_equal(pit_deadline(&pit), after(10000000 + cases[i].clocks));
	}
}

static void a_late_periodic_timer_keeps_its_rhythm(void **state)
{
	(void)state;
	for (u8 mode = 2; mode <= 3; mode++) {
		struct pit pit = reset();

		program(&pit, 0, mode, 100, START);
		assert_int_equal(pit_deadline(&pit), after(100));
		assert_int_equal(pit_expire(&pit, after(99)), 0);
		assert_int_equal(pit_expire(&pit, after(100)), 1);
		assert_int_equal(pit_deadline(&pit), after(200));
		/* Three periods late: the deadline goes on in the old rhythm. */
		assert_int_equal(pit_expire(&pit, after(567)), 1);
		assert_int_equal(pit_deadline(&pit), after(600));
		assert_int_equal(pit_expire(&pit, after(567)), 0);
	}
}

/* 250 Hz at an awkward frequency: a day later the edges are where they belong. */
static void a_periodic_timer_does_not_drift(void **state)
{
	const u32 khz = 2394561;
	const u32 count = 4773;
	const u64 periods = 86400ull * 250;
	struct pit pit;
	u64 due;

	(void)state;
	pit_reset(&pit, khz, 0);
	program(&pit, 0, 2, count, 0);
	due = (u64)((unsigned __int128)periods * count * khz * 1000 / 1193182);
	assert_true(pit_expire(&pit, due));
	assert_int_equal(pit_deadline(&pit), due + 1);
	assert_int_equal(pit_expire(&pit, due + 1), 1);
	for (u64 period = periods + 1; period < periods + 1000; period++) {
		due = pit_deadline(&pit);
		assert_int_equal(pit_expire(&pit, due - 1), 0);
		assert_int_equal(pit_expire(&pit, due), 1);
	}
}

static void edges_survive_reprogramming(void **state)
{
	struct pit pit = reset();

	(void)state;
	program(&pit, 0, 2, 100, START);
	program(&pit, 0, 0, 500, after(350));
	assert_int_equal(pit_deadline(&pit), 0);
	assert_true(pit_expire(&pit, after(350)));
	assert_int_equal(pit_deadline(&pit), after(850));
	/* Counted while the first byte had stopped the counter. */
	pit_write(&pit, 0x40, 100, after(851));
	assert_int_equal(pit_deadline(&pit), 0);
	assert_int_equal(pit_expire(&pit, after(900)), 1);
	assert_int_equal(pit_deadline(&pit), TIME_NEVER);
}

static void the_first_byte_stops_mode_0_only(void **state)
{
	struct pit pit = reset();

	(void)state;
	program(&pit, 0, 4, 100, START);
	pit_write(&pit, 0x40, 50, after(10));
	assert_int_equal(pit_deadline(&pit), after(100));
	program(&pit, 0, 0, 100, START);
	pit_write(&pit, 0x40, 50, after(10));
	assert_int_equal(pit_deadline(&pit), TIME_NEVER);
	pit_write(&pit, 0x40, 0, after(20));
	assert_int_equal(pit_deadline(&pit), after(70));
}

static void single_byte_access(void **state)
{
	struct pit pit = reset();

	(void)state;
	pit_write(&pit, 0x43, 0x14, START);
	pit_write(&pit, 0x40, 200, START);
	assert_int_equal(pit_deadline(&pit), after(200));
	assert_int_equal(pit_read(&pit, 0x40, after(1)), 199);
	assert_int_equal(pit_read(&pit, 0x40, after(2)), 198);
	pit_write(&pit, 0x43, 0x24, START);
	pit_write(&pit, 0x40, 2, START);
	assert_int_equal(pit_deadline(&pit), after(512));
	assert_int_equal(pit_read(&pit, 0x40, after(1)), 1);
	assert_int_equal(pit_read(&pit, 0x40, after(256)), 1);
	assert_int_equal(pit_read(&pit, 0x40, after(257)), 0);
}

static void a_latch_holds_until_it_is_read(void **state)
{
	struct pit pit = reset();

	(void)state;
	program(&pit, 0, 2, 0x1234, START);
	pit_write(&pit, 0x43, 0x00, after(0x34));
	pit_write(&pit, 0x43, 0x00, after(0x134));
	assert_int_equal(pit_read(&pit, 0x40, after(0x200)), 0x00);
	assert_int_equal(pit_read(&pit, 0x40, after(0x300)), 0x12);
	assert_int_equal(read_both(&pit, 0, after(0x234)), 0x1000);
}

/* How Linux calibrates the TSC: gate on, mode 0, wait for the output. */
static void linux_calibrates_with_counter_2(void **state)
{
	struct pit pit = reset();

	(void)state;
	pit_write(&pit, 0x61, 0x01, START);
	program(&pit, 2, 0, 59659, START);
	assert_false(speaker_output(&pit, after(59658)));
	assert_true(speaker_output(&pit, after(59659)));
	assert_int_equal(pit_read(&pit, 0x61, after(0)) & 0x0f, 0x01);
	/* Counter 2 is not wired to the interrupt. */
	assert_int_equal(pit_expire(&pit, after(100000)), 0);
	assert_int_equal(pit_deadline(&pit), TIME_NEVER);
}

static void the_gate_halts_counting(void **state)
{
	struct pit pit = reset();

	(void)state;
	program(&pit, 2, 0, 100, START);
	assert_int_equal(read_latched(&pit, 2, after(50)), 100);
	pit_write(&pit, 0x61, 1, after(50));
	assert_int_equal(read_latched(&pit, 2, after(80)), 70);
	pit_write(&pit, 0x61, 0, after(80));
	assert_int_equal(read_latched(&pit, 2, after(500)), 70);
	pit_write(&pit, 0x61, 1, after(500));
	assert_false(speaker_output(&pit, after(569)));
	assert_true(speaker_output(&pit, after(570)));
}

static void the_gate_restarts_periodic_modes(void **state)
{
	struct pit pit = reset();

	(void)state;
	pit_write(&pit, 0x61, 1, START);
	program(&pit, 2, 2, 100, START);
	assert_false(speaker_output(&pit, after(99)));
	pit_write(&pit, 0x61, 0, after(99));
	assert_true(speaker_output(&pit, after(99)));
	assert_int_equal(read_latched(&pit, 2, after(150)), 100);
	pit_write(&pit, 0x61, 1, after(150));
	assert_int_equal(read_latched(&pit, 2, after(160)), 90);
	assert_true(speaker_output(&pit, after(248)));
	assert_false(speaker_output(&pit, after(249)));
}

static void refresh_toggles(void **state)
{
	struct pit pit = reset();
	unsigned changes = 0;
	u8 last = pit_read(&pit, 0x61, START) & 0x10;

	(void)state;
	for (u32 clock = 1; clock <= 180; clock++) {
		u8 bit = pit_read(&pit, 0x61, after(clock)) & 0x10;

		changes += bit != last;
		last = bit;
	}
	assert_int_equal(changes, 10);
}

static void extreme_frequencies(void **state)
{
	static const u32 khz[] = { 2000, 8000000 };
	struct pit pit;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(khz); i++) {
		pit_reset(&pit, khz[i], 0);
		program(&pit, 0, 2, 0, 0);
		assert_int_equal(pit_deadline(&pit),
				 (65536ull * khz[i] * 1000 + 1193181) / 1193182);
		/* A year, all unreported. */
		assert_true(pit_expire(&pit, 31557600ull * khz[i] * 1000));
		assert_true(pit_deadline(&pit) > 31557600ull * khz[i] * 1000);
	}
}

static void other_ports_are_nobody(void **state)
{
	struct pit pit = reset();

	(void)state;
	pit_write(&pit, 0x44, 1, START);
	assert_int_equal(pit_read(&pit, 0x43, START), 0xff);
	assert_int_equal(pit_read(&pit, 0x44, START), 0xff);
}

/* Whatever is written, each reported edge was announced by a deadline. */
static void random_programs_keep_the_promise(void **state)
{
	static const u16 ports[] = { 0x40, 0x40, 0x40, 0x42, 0x43, 0x61 };
	struct pit pit = reset();
	u32 random = 7;
	u64 now = START;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		u16 port = ports[random_next(&random) % ARRAY_SIZE(ports)];
		u64 due;

		now += random_next(&random) % (random_next(&random) % 8 ? 50000 : 90000000);
		if (random_next(&random) % 2)
			pit_write(&pit, port, (u8)random_next(&random), now);
		else
			pit_read(&pit, port, now);
		due = pit_deadline(&pit);
		if (due <= now)
			assert_true(pit_expire(&pit, now) > 0);
		else
			assert_int_equal(pit_expire(&pit, now), 0);
		assert_true(pit_deadline(&pit) > now);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_happens_unprogrammed),
		cmocka_unit_test(the_read_back_command_is_ignored),
		cmocka_unit_test(a_new_period_begins_at_once),
		cmocka_unit_test(counts_and_outputs),
		cmocka_unit_test(a_one_shot_expires_once),
		cmocka_unit_test(a_late_periodic_timer_keeps_its_rhythm),
		cmocka_unit_test(a_periodic_timer_does_not_drift),
		cmocka_unit_test(edges_survive_reprogramming),
		cmocka_unit_test(the_first_byte_stops_mode_0_only),
		cmocka_unit_test(single_byte_access),
		cmocka_unit_test(a_latch_holds_until_it_is_read),
		cmocka_unit_test(linux_calibrates_with_counter_2),
		cmocka_unit_test(the_gate_halts_counting),
		cmocka_unit_test(the_gate_restarts_periodic_modes),
		cmocka_unit_test(refresh_toggles),
		cmocka_unit_test(extreme_frequencies),
		cmocka_unit_test(other_ports_are_nobody),
		cmocka_unit_test(random_programs_keep_the_promise),
	};

	return RUN_TESTS(tests);
}
