/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timer of an RTOS: its phase, which no rounding moves, and its overruns.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "fake/rtos.h"

static void the_timer_keeps_its_phase(void **state)
{
	u32 random = 1;

	(void)state;
	for (u32 khz = 999983; khz <= 3000017; khz += 666678) {
		start(NULL);
		time_tsc_khz = khz;
		processor.tsc = 777;
		assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 1000, 0), 0);
		for (u64 number = 1; number <= 3000; number++) {
			u64 due = 777 + number * 1000 * khz / 1000;

			assert_true(asked.deadline->time == due);
			/* Served late, but within the period. */
			expire_at(due + random_next(&random) % (khz / 2));
			enable();
			frame.esp = STACK;
			deliver();
			assert_int_equal(frame.eip, HANDLER(GANDALF_VECTOR_TIMER));
			assert_true(page()->timer_expiry == due);
			assert_int_equal(page()->timer_overruns, 0);
			assert_int_equal(vcpu.counters[COUNTER_timer_expiries], number);
		}
	}
	time_tsc_khz = 1000000;
}

#define TIMER_START 123456789ull

/* The tick of an expiry. */
static u64 due(u64 number, u32 period)
{
	return TIMER_START + number * period * time_tsc_khz / 1000;
}

/* Ticks of a period that are no whole number add up to the tick, also behind expiries that were
 * merged. */
static void merged_expiries_keep_the_phase(void **state)
{
	static const u32 khz[] = { 999983, 1000001, 2399987, 3000017 };
	static const u32 periods[] = { 100, 997, 1001 };
	u32 random = 3;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(khz) * ARRAY_SIZE(periods); i++) {
		u32 period = periods[i % ARRAY_SIZE(periods)];
		u64 number = 1;

		start(NULL);
		time_tsc_khz = khz[i / ARRAY_SIZE(periods)];
		processor.tsc = TIMER_START;
		assert_int_equal(call(GANDALF_HYPERCALL_TIMER, period, 0), 0);
		for (u32 j = 0; j < 500; j++) {
			u64 now = due(number, period);

			assert_true(asked.deadline->time == now ||
				    asked.deadline->time == TIME_NEVER);
			/* Up to five are over at once, at times to the very tick. */
			if (j % 16 == 0)
				now = due(number + random_next(&random) % 5, period);
			else if (j % 8 == 0)
				now += random_next(&random) % (5 * period * 1000);
			expire_at(now);
			while (due(number, period) <= now)
				number++;
			if (j % 3 == 0) {
				enable();
				frame.esp = STACK;
				deliver();
				/* One of this very tick comes by itself. */
				expire_at(now);
			}
		}
	}
	time_tsc_khz = 1000000;
}

/* Whatever is served when: expiries and overruns add up, and the phase stays. */
static void every_expiry_is_counted(void **state)
{
	u32 random = 2;
	u64 now = 0, taken = 0, overruns = 0, rests = 0;

	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 100, 0), 0);
	for (unsigned i = 0; i < 5000; i++) {
		u64 expected;

		now += random_next(&random) % 350000;
		expire_at(now);
		/* Behind a second one that is not taken it rests, and costs nobody anything. */
		if (deadline_is_set(asked.deadline)) {
			assert_true(asked.deadline->time > now &&
				    asked.deadline->time <= now + 100000);
			assert_true(asked.deadline->time % 100000 == 0);
		} else {
			assert_true(now / 100000 > taken + overruns + 1);
			rests++;
		}
		if (random_next(&random) % 3 != 0 ||
		    (vcpu.pending >> (GANDALF_VECTOR_TIMER - GANDALF_VECTOR_IRQ)) == 0)
			continue;
		enable();
		frame.esp = STACK;
		deliver();
		taken++;
		overruns = page()->timer_overruns;
		expected = now / 100000;
		assert_true(taken + overruns == expected);
		assert_true(page()->timer_expiry <= now && page()->timer_expiry % 100000 == 0);
	}
	assert_true(taken > 500 && overruns > 500 && rests > 500);
	assert_int_equal(vcpu.counters[COUNTER_timer_overruns], page()->timer_overruns);
}

static void periods_are_bounded(void **state)
{
	static const u32 bad[] = { 1, GANDALF_TIMER_MINIMUM - 1, 1000001, 0x80000000, 0xffffffff };
	static const u32 good[] = { GANDALF_TIMER_MINIMUM, 1000, 1000000 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		processor.tsc = 5000;
		assert_int_equal(call(GANDALF_HYPERCALL_TIMER, good[i], 0), 0);
		assert_true(asked.deadline->time == 5000 + good[i] * 1000ull);
		for (unsigned j = 0; j < ARRAY_SIZE(bad); j++)
			assert_int_equal(call(GANDALF_HYPERCALL_TIMER, bad[j], 0),
					 (u32)GANDALF_ERROR_ARGUMENT);
		/* A refused period leaves the timer as it was. */
		assert_true(asked.deadline->time == 5000 + good[i] * 1000ull);
	}
	expire_at(asked.deadline->time);
	assert_int_equal(call(GANDALF_HYPERCALL_TIMER, 0, 0), 0);
	assert_true(asked.deadline->time == TIME_NEVER);
	assert_true(vcpu.pending == 0);
	assert_int_equal(asked.stops, 0);
}

static void a_stopped_guest_has_no_timer(void **state)
{
	(void)state;
	call(GANDALF_HYPERCALL_TIMER, 1000, 0);
	vcpu.operations->stop(&vcpu);
	assert_true(asked.deadline->time == TIME_NEVER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_timer_keeps_its_phase),
		TEST(merged_expiries_keep_the_phase),
		TEST(every_expiry_is_counted),
		TEST(periods_are_bounded),
		TEST(a_stopped_guest_has_no_timer),
	};

	return RUN_TESTS(tests);
}
