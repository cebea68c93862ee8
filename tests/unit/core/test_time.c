/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of deadlines: each expires once, when it is due, the most urgent one soon, and no
 * interrupt of the timer takes longer for many of them.
 */
#include "unit.h"

#include "core/core.h"
#include "core/time.h"
#include "platform/pc/apic.h"
#include "platform/pc/i8254.h"

#define DEADLINES 12u
#define KHZ 1000000u

struct processor processor;
static struct deadline deadlines[DEADLINES];
static u64 next_time[DEADLINES]; /* that its expiry returns */
static u32 order[64], expired;
static u64 programmed; /* for when; TIME_NEVER: nothing */

static void program(u32 low, s32 high)
{
	s64 since = (s64)((u64)(u32)high << 32 | low);

	programmed = processor.tsc - (u64)since;
	if (since >= 0)
		programmed = processor.tsc;
}

static void nothing(void)
{
}

const struct timer_hardware apic_timer = { "test", -1, nothing, nothing, program };
const struct timer_hardware i8254_timer = { "none", 0, nothing, nothing, program };

bool apic_init(void)
{
	return true;
}

u32 i8254_measure_tsc(void)
{
	return KHZ;
}

static u64 expire(struct deadline *deadline)
{
	u32 index = (u32)(deadline - deadlines);

	assert_true(deadline->time <= processor.tsc);
	assert_in_range(expired, 0, ARRAY_SIZE(order) - 1);
	order[expired++] = index;
	return next_time[index];
}

static int start(void **state)
{
	(void)state;
	processor.tsc = 1000;
	expired = 0;
	time_init();
	for (u32 i = 0; i < DEADLINES; i++) {
		if (deadlines[i].expire != NULL)
			deadline_set(&deadlines[i], TIME_NEVER);
		deadline_init(&deadlines[i], expire, i);
		next_time[i] = TIME_NEVER;
	}
	return 0;
}

/* The timer interrupts as it was programmed, until nothing is due; returns how often. */
static u32 run_until(u64 end)
{
	u32 interrupts = 0;

	while (programmed <= end) {
		u32 before = expired;

		processor.tsc = programmed > processor.tsc ? programmed : processor.tsc;
		time_interrupt();
		interrupts++;
		assert_in_range(expired - before, 0, 2);
	}
	processor.tsc = end;
	return interrupts;
}

static void each_expires_when_it_is_due(void **state)
{
	(void)state;
	deadline_set(&deadlines[2], 5000);
	deadline_set(&deadlines[0], 3000);
	deadline_set(&deadlines[1], 4000);
	assert_true(programmed == 3000);
	assert_int_equal(run_until(2999), 0);
	assert_int_equal(run_until(4500), 2);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], 1);
	assert_true(programmed == 5000);
	assert_false(deadline_is_set(&deadlines[0]));
	assert_true(deadline_is_set(&deadlines[2]));
	assert_false(deadline_waits());
	processor.tsc = 5000;
	assert_true(deadline_waits());
	/* One that is taken back does not. */
	deadline_set(&deadlines[2], TIME_NEVER);
	assert_false(deadline_is_set(&deadlines[2]));
	run_until(10000);
	assert_int_equal(expired, 2);
}

static void what_an_expiry_returns_is_the_next(void **state)
{
	(void)state;
	next_time[0] = 7000;
	deadline_set(&deadlines[0], 3000);
	deadline_set(&deadlines[1], 5000);
	run_until(3000);
	assert_true(programmed == 5000);
	next_time[0] = TIME_NEVER;
	run_until(9000);
	assert_int_equal(expired, 3);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 0);
}

/* However many there are at one time: the most urgent one is not behind more than one of the
 * others, and an interrupt has no more than two to do. */
static void the_most_urgent_one_does_not_wait_for_many(void **state)
{
	(void)state;
	for (u32 i = 0; i < DEADLINES; i++)
		deadline_set(&deadlines[i], 2000 + i);
	processor.tsc = 2500;
	time_interrupt();
	assert_int_equal(expired, 2);
	assert_int_equal(order[0], 0);
	assert_int_equal(order[1], DEADLINES - 1);
	/* It begins before the others have theirs. */
	assert_in_range(programmed - processor.tsc, KHZ / 1000, KHZ / 100);
	assert_int_equal(run_until(programmed), 1);
	assert_int_equal(order[3], DEADLINES - 2);
	run_until(processor.tsc + KHZ);
	assert_int_equal(expired, DEADLINES);
	assert_true(programmed > processor.tsc + KHZ);
}

/* Any settings, times and expiries, against the order of the times. */
static void no_deadline_is_lost(void **state)
{
	u32 random = 5, set = 0;

	(void)state;
	for (u32 round = 0; round < 20000; round++) {
		u32 index = random_next(&random) % DEADLINES;
		u64 time = processor.tsc + random_next(&random) % 20000;

		if (random_next(&random) % 8 == 0)
			time = TIME_NEVER;
		deadline_set(&deadlines[index], time);
		set += time != TIME_NEVER;
		expired = 0;
		run_until(processor.tsc + random_next(&random) % 5000);
		/* The rest of many waits for some interrupts more, and no longer. */
		for (u32 i = 0; i < DEADLINES; i++)
			assert_true(deadlines[i].time + DEADLINES / 2 * KHZ / 100 > processor.tsc);
	}
	assert_true(set > 10000);
	run_until(processor.tsc + 100 * KHZ);
	for (u32 i = 0; i < DEADLINES; i++)
		assert_false(deadline_is_set(&deadlines[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_expires_when_it_is_due, start),
		cmocka_unit_test_setup(what_an_expiry_returns_is_the_next, start),
		cmocka_unit_test_setup(the_most_urgent_one_does_not_wait_for_many, start),
		cmocka_unit_test_setup(no_deadline_is_lost, start),
	};

	return RUN_TESTS(tests);
}
