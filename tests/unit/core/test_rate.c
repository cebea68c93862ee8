/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frequency of the time stamp counter, as it is measured while guests run: that it is exact
 * or is not told, whatever delays the samples, and who is told. The reference here counts by the
 * simulated processor's time stamp counter.
 */
#include "unit.h"

#include <string.h>

#include "fake/asked.h"

#include "core/core.h"
#include "core/rate.h"
#include "core/time.h"
#include "elsewhere.h"
#include "platform/pc/i8254.h"

#define GUESTS 3u
#define MICROSECONDS_PER_SECOND 1000000u

u32 time_tsc_khz;

static struct gandalf_shared shared[GUESTS + 1];
static u64 hz;       /* of the time stamp counter */
static u32 spread;   /* microseconds of a sample */
static u32 random_state;
static u64 next_due; /* that of the deadline, when it has expired last */
static u32 expiries; /* since the start */

static struct {
	bool begun, latched, stands;
	u64 begin;  /* when it began */
	u64 missed; /* ticks since then in which it did not count */
	u64 phase;  /* what there was of a clock then */
	u16 count;  /* then */
	u16 value;  /* that was kept */
	u32 begins;
} reference;

/* What core 0 has measured, where this is another core. */
static struct {
	bool is_other;
	u32 rate;
} core_0;

static u64 microseconds(u32 count)
{
	return hz * count / MICROSECONDS_PER_SECOND;
}

static u64 random_below(u64 limit)
{
	u64 high = random_next(&random_state);

	return limit == 0 ? 0 : (high << 32 | random_next(&random_state)) % limit;
}

/* Own stand-ins: core_read() finds what core 0 has measured. */
void core_read(u32 index, void *to, const void *variable, u32 size)
{
	assert_false(processor.interrupts);
	assert_true(core_0.is_other);
	assert_int_equal(index, 0);
	assert_ptr_equal(variable, &rate_measured);
	memcpy(to, &core_0.rate, size);
}

void i8254_count_begin(void)
{
	assert_false(core_0.is_other);
	reference.begun = true;
	reference.begin = processor.tsc;
	reference.missed = 0;
	reference.phase = random_below(hz);
	reference.count = (u16)random_next(&random_state);
	reference.begins++;
	processor.tsc += random_below(microseconds(5));
}

/* A chip that has just been told to count takes a moment to begin. */
void i8254_latch(void)
{
	u64 all = microseconds(spread), before = random_below(all + 1), ticks;

	assert_true(reference.begun);
	assert_false(reference.latched || core_0.is_other);
	processor.tsc += before;
	ticks = processor.tsc - reference.begin - reference.missed;
	assert_true(ticks > microseconds(100));
	reference.value = (u16)(reference.count +
				(u64)(((unsigned __int128)ticks * I8254_FREQUENCY +
				       reference.phase) / hz));
	if (reference.stands)
		reference.value = reference.count;
	reference.latched = true;
	processor.tsc += all - before;
}

u16 i8254_count(void)
{
	assert_true(reference.latched);
	reference.latched = false;
	processor.tsc += random_below(microseconds(5));
	return reference.value;
}

/* error: millionths by which what was measured at the start is too high. */
static void begin_at(u64 frequency, s32 error, u64 time)
{
	hz = frequency;
	time_tsc_khz = (u32)((s64)frequency / 1000 + (s64)frequency / 1000 * error / 1000000);
	processor.tsc = time;
	processor.interrupts = false;
	rate_measured = 0;
	memset(&reference, 0, sizeof(reference));
	memset(shared, 0, sizeof(shared));
	expiries = 0;
	rate_forget();
	rate_begin();
	next_due = asked.deadline->time;
	assert_true(next_due == time + (u64)time_tsc_khz * 1000);
}

static int start(void **state)
{
	(void)state;
	memset(&processor, 0, sizeof(processor));
	memset(&core, 0, sizeof(core));
	memset(&core_0, 0, sizeof(core_0));
	random_state = 1;
	spread = 1;
	core.vcpu_count = GUESTS;
	for (u32 i = 0; i <= GUESTS; i++)
		vcpus[i].shared = &shared[i];
	return 0;
}

/* The deadline expires, some time after it was due. */
static void expire_late(u64 ticks)
{
	assert_true(next_due != TIME_NEVER);
	processor.tsc = next_due + ticks;
	next_due = asked.deadline->expire(asked.deadline);
	expiries++;
	assert_true(next_due == TIME_NEVER ||
		    next_due - processor.tsc == (u64)time_tsc_khz * 1000);
	assert_int_equal(rate_measured == 0, next_due != TIME_NEVER);
	for (u32 i = 0; i < GUESTS; i++)
		assert_int_equal(shared[i].tsc_rate, rate_measured);
	assert_int_equal(shared[GUESTS].tsc_rate, 0);
}

static void expire(void)
{
	expire_late(random_below(microseconds(300)));
}

/* Returns behind how many expiries it was, since the start. */
static u32 run_until_measured(u32 limit)
{
	while (next_due != TIME_NEVER && expiries < limit)
		expire();
	return expiries;
}

/* What is below 10 Hz is not told. */
static void expect_exact(void)
{
	double wrong = (double)rate_measured * 10 - (double)hz;

	if (wrong > (double)hz / 1e6 || wrong < -(double)hz / 1e6 - 10)
		fail_msg("%u0 Hz and not %llu Hz", rate_measured, (unsigned long long)hz);
}

static const u64 frequencies[] = { 2000000, 10000000, 166000000, 999999987, 4500000000,
				   8000000000 };
static const u64 times[] = { 0, 12345, 1ull << 32, 1ull << 40, 1ull << 52, 1ull << 63,
			     0 - 3000000000ull };
static const s32 errors[] = { 0, 100, -100, 400, -400, 495, -495 };

static void it_is_exact_to_a_millionth(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(frequencies) * ARRAY_SIZE(times) * ARRAY_SIZE(errors); i++) {
		u64 frequency = frequencies[i % ARRAY_SIZE(frequencies)];
		u32 rest = i / ARRAY_SIZE(frequencies);

		for (u32 round = 0; round < 50; round++) {
			spread = round % 5;
			begin_at(frequency, errors[rest % ARRAY_SIZE(errors)],
				 times[rest / ARRAY_SIZE(errors)]);
			/* The reference begins, and then there are some seconds. */
			assert_in_range(run_until_measured(20), 3, 12);
			expect_exact();
		}
	}
}

/* The longer it takes, the more often the reference begins again. */
static void it_is_exact_behind_half_a_minute(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(frequencies) * ARRAY_SIZE(errors); i++) {
		spread = 14;
		begin_at(frequencies[i % ARRAY_SIZE(frequencies)],
			 errors[i / ARRAY_SIZE(frequencies)], 1000);
		assert_in_range(run_until_measured(90), 30, 34);
		expect_exact();
	}
}

static void any_frequency_and_delay(void **state)
{
	(void)state;
	for (u32 round = 0; round < 20000; round++) {
		u32 best = 1 + (u32)random_below(12);

		begin_at(50000000 + random_below(5000000000), (s32)random_below(801) - 400,
			 random_below(1ull << 48));
		while (next_due != TIME_NEVER && expiries < 300) {
			spread = best + (u32)random_below(1u << random_below(12));
			expire_late(random_below(microseconds(1u << random_below(25))));
		}
		assert_int_not_equal(rate_measured, 0);
		expect_exact();
	}
}

static void what_is_not_exact_is_not_told(void **state)
{
	(void)state;
	spread = 16;
	begin_at(1000000000, 50, 0);
	assert_int_equal(run_until_measured(1000), 1000);
	spread = 3;
	assert_in_range(run_until_measured(1100), 1001, 1010);
	expect_exact();
}

static void a_better_first_sample_takes_the_place_of_the_first(void **state)
{
	(void)state;
	begin_at(1000000000, 50, 0);
	spread = 25;
	run_until_measured(11);
	spread = 1;
	/* One is taken, and 3 seconds later there is another. */
	assert_int_equal(run_until_measured(90), 12 + 3);
	expect_exact();
	/* A worse one does not. */
	begin_at(1000000000, 50, 0);
	spread = 1;
	run_until_measured(2);
	spread = 19;
	assert_int_equal(run_until_measured(90), 2 + 22);
	expect_exact();
}

static void behind_half_a_minute_it_begins_anew(void **state)
{
	(void)state;
	for (u32 seconds = 31; seconds <= 33; seconds++) {
		begin_at(1000000000, 50, 0);
		spread = 10;
		run_until_measured(2);
		spread = 25;
		run_until_measured(2 + seconds - 1);
		assert_int_equal(rate_measured, 0);
		spread = 10;
		if (seconds <= 32)
			assert_int_equal(run_until_measured(200), 2 + seconds);
		else
			assert_int_equal(run_until_measured(200), 2 + seconds + 22);
		expect_exact();
	}
	/* The reference itself need not. */
	assert_int_equal(reference.begins, 1);
}

/* As long as the host of an emulator may sleep, and all goes on. */
static void a_long_delay_does_no_harm(void **state)
{
	(void)state;
	for (u32 hours = 1; hours < 1000; hours += 37) {
		begin_at(3000000000, -200, 0);
		run_until_measured(3);
		expire_late(hours * 3600ull * hz + random_below(hz));
		assert_int_equal(rate_measured, 0);
		run_until_measured(20);
		expect_exact();
	}
}

/* A machine that slept: either counter may have stood still, or begun at 0. */
static void what_cannot_be_right_is_measured_anew(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(frequencies); i++) {
		begin_at(frequencies[i], 100, 1ull << 40);
		run_until_measured(4);
		reference.missed += microseconds(10000);
		expire_late(microseconds(10000));
		run_until_measured(30);
		assert_in_range(expiries, 7, 12);
		expect_exact();
		/* The reference goes on, and the other does not. */
		begin_at(frequencies[i], 100, 1ull << 40);
		run_until_measured(4);
		reference.missed -= microseconds(20000);
		run_until_measured(30);
		assert_in_range(expiries, 7, 12);
		expect_exact();
		begin_at(frequencies[i], 100, 1ull << 40);
		run_until_measured(4);
		reference.begin -= next_due - 5000;
		next_due = 5000;
		run_until_measured(30);
		assert_in_range(expiries, 7, 12);
		expect_exact();
	}
}

/* Nobody knows which of the two is wrong. */
static void far_from_the_first_frequency_none_is_told(void **state)
{
	static const s32 wrong[] = { 502, -502, 700, -700, 1100, -1100, 20000, -20000 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(wrong); i++)
		for (spread = 0; spread <= (wrong[i] % 20000 == 0 ? 1 : 15); spread++) {
			begin_at(1000000000, wrong[i], 0);
			assert_int_equal(run_until_measured(300), 300);
		}
}

/* Firmware may have stopped it. */
static void a_reference_that_stands_still_tells_nothing(void **state)
{
	(void)state;
	for (u32 round = 0; round < 2000; round++) {
		spread = round % 16;
		begin_at(50000000 + random_below(5000000000), (s32)random_below(801) - 400, 0);
		reference.stands = true;
		assert_int_equal(run_until_measured(100), 100);
	}
}

/* A guest that has had the machine's chips may have used the reference. */
static void what_was_before_a_guest_had_the_reference_is_forgotten(void **state)
{
	(void)state;
	for (u32 seconds = 0; seconds < 4; seconds++) {
		begin_at(1000000000, 20, 0);
		run_until_measured(seconds);
		rate_forget();
		reference.begun = false;
		assert_int_equal(rate_measured, 0);
		assert_in_range(run_until_measured(30), seconds + 3, seconds + 6);
		assert_int_equal(reference.begins, seconds > 0 ? 2 : 1);
		expect_exact();
	}
	/* What is known stays. */
	rate_forget();
	expect_exact();
	assert_true(next_due == TIME_NEVER);
}

static void another_core_waits_for_the_first_one(void **state)
{
	(void)state;
	core_0.is_other = true;
	core.index = 1;
	begin_at(1000000000, 0, 0);
	assert_int_equal(run_until_measured(100), 100);
	core_0.rate = 99999999;
	assert_int_equal(run_until_measured(200), 101);
	assert_int_equal(rate_measured, 99999999);
	assert_int_equal(reference.begins, 0);
}

/* Nobody waits for it. */
static void it_is_not_urgent(void **state)
{
	(void)state;
	begin_at(1000000000, 0, 0);
	assert_int_equal(asked.deadline->priority, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_exact_to_a_millionth),
		TEST(it_is_exact_behind_half_a_minute),
		TEST(any_frequency_and_delay),
		TEST(what_is_not_exact_is_not_told),
		TEST(a_better_first_sample_takes_the_place_of_the_first),
		TEST(behind_half_a_minute_it_begins_anew),
		TEST(a_long_delay_does_no_harm),
		TEST(what_cannot_be_right_is_measured_anew),
		TEST(far_from_the_first_frequency_none_is_told),
		TEST(a_reference_that_stands_still_tells_nothing),
		TEST(what_was_before_a_guest_had_the_reference_is_forgotten),
		TEST(another_core_waits_for_the_first_one),
		TEST(it_is_not_urgent),
	};

	return RUN_TESTS(tests);
}
