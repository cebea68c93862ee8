/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual real-time clock against the host's calendar, and its interrupts.
 */
#include "unit.h"

#include <time.h>

#include "abi/gandalf.h"
#include "device/rtc.h"
#include "lib/date.h"

#define KHZ 1000000u
#define SECOND (KHZ * 1000ull)
#define START 123456789ull

enum {
	SECONDS, SECONDS_ALARM, MINUTES, MINUTES_ALARM, HOURS, HOURS_ALARM,
	WEEKDAY, DAY, MONTH, YEAR, A, B, C, D, CENTURY = 0x32
};

#define SET 0x80
#define PERIODIC 0x40
#define ALARM 0x20
#define UPDATE 0x10
#define BINARY 0x04
#define FULL_DAY 0x02

static u8 get(struct rtc *rtc, u8 index, u64 now)
{
	rtc_write(rtc, 0x70, index, now);
	return rtc_read(rtc, 0x71, now);
}

static void put(struct rtc *rtc, u8 index, u8 value, u64 now)
{
	rtc_write(rtc, 0x70, index, now);
	rtc_write(rtc, 0x71, value, now);
}

static struct rtc at(u32 seconds)
{
	struct rtc rtc;

	rtc_reset(&rtc, KHZ, START, seconds);
	return rtc;
}

static u64 after(double seconds)
{
	return START + (u64)(seconds * (double)SECOND);
}

static void check_date(struct rtc *rtc, u64 now, u32 seconds)
{
	time_t time = (time_t)seconds;
	struct tm tm;

	assert_non_null(gmtime_r(&time, &tm));
	put(rtc, B, BINARY | FULL_DAY, now);
	assert_int_equal(get(rtc, SECONDS, now), tm.tm_sec);
	assert_int_equal(get(rtc, MINUTES, now), tm.tm_min);
	assert_int_equal(get(rtc, HOURS, now), tm.tm_hour);
	assert_int_equal(get(rtc, WEEKDAY, now), tm.tm_wday + 1);
	assert_int_equal(get(rtc, DAY, now), tm.tm_mday);
	assert_int_equal(get(rtc, MONTH, now), tm.tm_mon + 1);
	assert_int_equal(get(rtc, YEAR, now), tm.tm_year % 100);
	assert_int_equal(get(rtc, CENTURY, now), tm.tm_year / 100 + 19);
}

static void dates_agree_with_the_host(void **state)
{
	static const u32 times[] = { 0, 951782399, 951782400, 951868800, 1704067200, 1709164800,
				     4107542399u, 4107542400u, UINT32_MAX };
	u32 random = 3;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct rtc rtc = at(times[i]);

		check_date(&rtc, START, times[i]);
	}
	for (unsigned i = 0; i < 5000; i++) {
		u32 time = random_next(&random);
		struct rtc rtc = at(time);

		check_date(&rtc, START, time);
	}
}

static void dates_become_seconds(void **state)
{
	(void)state;
	assert_int_equal(date_seconds(1970, 1, 1, 0, 0, 0), 0);
	assert_int_equal(date_seconds(2000, 2, 29, 23, 59, 59), 951868799);
	assert_int_equal(date_seconds(2024, 1, 1, 0, 0, 0), 1704067200);
	assert_int_equal(date_seconds(2100, 3, 1, 0, 0, 0), 4107542400u);
}

static void time_goes_on(void **state)
{
	struct rtc rtc = at(1704067199);

	(void)state;
	check_date(&rtc, START + SECOND - 1, 1704067199);
	check_date(&rtc, START + SECOND, 1704067200);
	check_date(&rtc, START + 86400 * SECOND * 60, 1704067199 + 86400 * 60);
}

static void decimal_and_binary_codes(void **state)
{
	static const struct {
		u32 seconds;
		u8 mode;
		u8 hour;
	} cases[] = {
		{ 23 * 3600, FULL_DAY, 0x23 },
		{ 23 * 3600, BINARY | FULL_DAY, 23 },
		/* There are no other hours. */
		{ 23 * 3600, 0, 0x23 },
		{ 0, BINARY, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rtc rtc = at(cases[i].seconds + 59 * 60 + 48);

		put(&rtc, B, cases[i].mode, START);
		assert_int_equal(get(&rtc, B, START), cases[i].mode | FULL_DAY);
		assert_int_equal(get(&rtc, HOURS, START), cases[i].hour);
		assert_int_equal(get(&rtc, MINUTES, START), cases[i].mode & BINARY ? 59 : 0x59);
		assert_int_equal(get(&rtc, SECONDS, START), cases[i].mode & BINARY ? 48 : 0x48);
		/* What is read can be written. */
		put(&rtc, HOURS, cases[i].hour, START);
		put(&rtc, B, BINARY | FULL_DAY, START);
		assert_int_equal(get(&rtc, HOURS, START), cases[i].seconds / 3600);
	}
}

/* mc146818_set_time(): SET, divider reset, values, and both back. */
static void linux_sets_the_time(void **state)
{
	static const u8 values[][2] = { { YEAR, 0x30 }, { MONTH, 0x12 },   { DAY, 0x31 },
					{ HOURS, 0x23 }, { MINUTES, 0x59 }, { SECONDS, 0x58 } };
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, CENTURY, 0x20, after(1));
	put(&rtc, B, FULL_DAY | SET, after(1.2));
	put(&rtc, A, 0x76, after(1.2));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		put(&rtc, values[i][0], values[i][1], after(1.25));
	assert_int_equal(get(&rtc, SECONDS, after(9)), 0x58);
	put(&rtc, B, FULL_DAY, after(9));
	put(&rtc, A, 0x26, after(9));
	assert_int_equal(get(&rtc, SECONDS, after(9.49)), 0x58);
	assert_int_equal(get(&rtc, SECONDS, after(9.51)), 0x59);
	check_date(&rtc, after(10.51), date_seconds(2031, 1, 1, 0, 0, 0));
}

static void setting_without_reset_keeps_the_phase(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, B, FULL_DAY | SET | UPDATE, after(0.3));
	assert_int_equal(get(&rtc, B, after(0.3)), FULL_DAY | SET);
	put(&rtc, SECONDS, 0x20, after(5.7));
	put(&rtc, B, FULL_DAY, after(5.8));
	assert_int_equal(get(&rtc, SECONDS, after(5.99)), 0x20);
	assert_int_equal(get(&rtc, SECONDS, after(6.01)), 0x21);
	/* Nor does it need SET at all. */
	put(&rtc, SECONDS, 0x40, after(6.5));
	assert_int_equal(get(&rtc, SECONDS, after(6.99)), 0x40);
	assert_int_equal(get(&rtc, SECONDS, after(7.01)), 0x41);
}

static void impossible_times_become_possible(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, B, SET | BINARY | FULL_DAY, START);
	for (u8 i = SECONDS; i <= YEAR; i++)
		put(&rtc, i, 0xff, START);
	put(&rtc, CENTURY, 20, START);
	put(&rtc, B, BINARY | FULL_DAY, START);
	check_date(&rtc, START, date_seconds(2099, 12, 31, 23, 59, 59));
	put(&rtc, B, SET, START);
	for (u8 i = SECONDS; i <= YEAR; i++)
		put(&rtc, i, 0, START);
	put(&rtc, CENTURY, 0, START);
	put(&rtc, B, 0, START);
	assert_int_equal(get(&rtc, MONTH, START), 1);
	assert_int_equal(get(&rtc, DAY, START), 1);
	assert_int_equal(get(&rtc, CENTURY, START), 0x01);
}

static void the_update_is_announced(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	assert_int_equal(get(&rtc, A, START), 0x26);
	assert_int_equal(get(&rtc, A, after(0.9997)), 0x26);
	assert_int_equal(get(&rtc, A, after(0.9999)), 0xa6);
	assert_int_equal(get(&rtc, A, after(1.0)), 0x26);
	put(&rtc, B, SET, after(1.1));
	assert_int_equal(get(&rtc, A, after(1.9999)), 0x26);
}

static void no_interrupt_is_enabled_at_first(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	assert_int_equal(rtc_deadline(&rtc), TIME_NEVER);
	rtc_expire(&rtc, after(10));
	assert_false(rtc_line(&rtc));
	/* The flags are there all the same. */
	assert_int_equal(get(&rtc, C, after(10)), PERIODIC | UPDATE);
	assert_int_equal(get(&rtc, C, after(10)), 0);
}

static void update_interrupt(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, B, UPDATE | FULL_DAY, after(0.5));
	assert_int_equal(rtc_deadline(&rtc), after(1));
	rtc_expire(&rtc, after(1) - 1);
	assert_false(rtc_line(&rtc));
	rtc_expire(&rtc, after(1));
	assert_true(rtc_line(&rtc));
	assert_int_equal(rtc_deadline(&rtc), TIME_NEVER);
	assert_int_equal(get(&rtc, C, after(1.5)) & ~PERIODIC, 0x80 | UPDATE);
	assert_false(rtc_line(&rtc));
	assert_int_equal(rtc_deadline(&rtc), after(2));
}

static void periodic_rates(void **state)
{
	static const u32 hertz[16] = { 0,    256,  128, 8192, 4096, 2048, 1024, 512,
				       256, 128, 64,  32,   16,   8,    4,    2 };

	(void)state;
	for (u8 rate = 0; rate < 16; rate++) {
		struct rtc rtc = at(0);

		put(&rtc, A, 0x20 | rate, START);
		put(&rtc, B, PERIODIC, START);
		if (rate == 0) {
			assert_int_equal(rtc_deadline(&rtc), TIME_NEVER);
			continue;
		}
		/* A million later, each is where it belongs: no drift. */
		for (u64 n = 1; n <= 1000001; n += 500000) {
			u64 due = START + (n * SECOND + hertz[rate] - 1) / hertz[rate];

			rtc_expire(&rtc, due - 1);
			get(&rtc, C, due - 1);
			assert_int_equal(rtc_deadline(&rtc), due);
			rtc_expire(&rtc, due);
			assert_true(rtc_line(&rtc));
			assert_int_equal(get(&rtc, C, due) & 0xc0, 0xc0);
		}
	}
}

struct alarm {
	u8 hour, minute, second;
	u32 from;     /* seconds of the day */
	u32 distance; /* 0: never */
};

static void alarm_check(const struct alarm *alarm)
{
	struct rtc rtc = at(alarm->from);
	u64 due = START + alarm->distance * SECOND;

	put(&rtc, HOURS_ALARM, alarm->hour, START);
	put(&rtc, MINUTES_ALARM, alarm->minute, START);
	put(&rtc, SECONDS_ALARM, alarm->second, START);
	put(&rtc, B, ALARM | FULL_DAY, START);
	if (alarm->distance == 0) {
		assert_int_equal(rtc_deadline(&rtc), TIME_NEVER);
		rtc_expire(&rtc, START + 200000 * SECOND);
		assert_false(rtc_line(&rtc));
		return;
	}
	assert_int_equal(rtc_deadline(&rtc), due);
	rtc_expire(&rtc, due - 1);
	assert_false(rtc_line(&rtc));
	rtc_expire(&rtc, due + 3 * SECOND);
	assert_true(rtc_line(&rtc));
	assert_int_equal(get(&rtc, C, due + 3 * SECOND) & 0xa0, 0xa0);
}

static void alarms(void **state)
{
	static const struct alarm cases[] = {
		{ 0x12, 0x34, 0x56, 0, 45296 },
		{ 0x12, 0x34, 0x56, 45295, 1 },
		{ 0x12, 0x34, 0x56, 45296, 86400 },
		{ 0x00, 0x00, 0x00, 86399, 1 },
		{ 0xff, 0xff, 0xff, 100, 1 },
		{ 0xff, 0xff, 0x30, 100, 50 },
		{ 0xff, 0xff, 0x30, 29, 1 },
		{ 0xff, 0x10, 0x00, 600, 3600 },
		{ 0xc0, 0x10, 0x00, 599, 1 },
		{ 0x05, 0xff, 0x00, 0, 18000 },
		{ 0x05, 0xff, 0xff, 21599, 86400 - 3599 },
		{ 0x23, 0x59, 0x59, 86399, 86400 },
		{ 0x24, 0x00, 0x00, 0, 0 },
		{ 0x00, 0x60, 0x00, 0, 0 },
		{ 0x00, 0x00, 0x60, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		alarm_check(&cases[i]);
}

static void a_missed_alarm_is_found(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, HOURS_ALARM, 0x01, START);
	put(&rtc, B, ALARM | FULL_DAY, START);
	/* The guest did not run for two days. */
	rtc_expire(&rtc, START + 2 * 86400 * SECOND);
	assert_true(rtc_line(&rtc));
}

static void enabling_finds_the_flag_set(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, B, UPDATE, after(5));
	assert_true(rtc_line(&rtc));
	put(&rtc, B, 0, after(5));
	assert_false(rtc_line(&rtc));
}

static void a_stopped_clock_interrupts_no_one(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, B, PERIODIC | UPDATE | ALARM, START);
	put(&rtc, A, 0x66, after(0.0001));
	assert_int_equal(rtc_deadline(&rtc), TIME_NEVER);
	rtc_expire(&rtc, after(100));
	assert_false(rtc_line(&rtc));
	/* With SET the periodic interrupt goes on, the others do not. */
	put(&rtc, A, 0x26, after(100));
	put(&rtc, B, SET | PERIODIC | ALARM, after(100));
	rtc_expire(&rtc, after(102));
	assert_int_equal(get(&rtc, C, after(102)), 0x80 | PERIODIC);
}

static void memory_is_kept(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	for (u8 i = 0x0e; i < RTC_REGISTERS; i++)
		if (i != CENTURY)
			put(&rtc, i, (u8)(i ^ 0x5a), START);
	for (u8 i = 0x0e; i < RTC_REGISTERS; i++)
		if (i != CENTURY)
			assert_int_equal(get(&rtc, i, after(1)), i ^ 0x5a);
	/* Bit 7 of the index is the NMI mask. */
	assert_int_equal(get(&rtc, 0x8e, after(1)), 0x0e ^ 0x5a);
}

static void read_only_registers(void **state)
{
	struct rtc rtc = at(0);

	(void)state;
	put(&rtc, D, 0, START);
	assert_int_equal(get(&rtc, D, START), 0x80);
	put(&rtc, C, 0xff, START);
	assert_int_equal(get(&rtc, C, START), 0);
	put(&rtc, A, 0xa6, START);
	assert_int_equal(get(&rtc, A, START), 0x26);
	assert_int_equal(rtc_read(&rtc, 0x70, START), 0xff);
}

static void interrupts_may_acknowledge_themselves(void **state)
{
	struct rtc rtc = at(0);
	u64 due;

	(void)state;
	put(&rtc, B, PERIODIC, START);
	put(&rtc, D, 0xff, START);
	assert_int_equal(get(&rtc, D, START), 0x80 | GANDALF_RTC_AUTOMATIC);
	for (unsigned i = 1; i <= 100; i++) {
		due = rtc_deadline(&rtc);
		assert_true(due >= after(i / 1024.0) && due <= after(i / 1024.0) + KHZ / 32768 + 1);
		rtc_expire(&rtc, due);
		assert_true(rtc_line(&rtc));
		rtc_acknowledge(&rtc);
		assert_false(rtc_line(&rtc));
		assert_int_equal(get(&rtc, C, due), 0);
	}
	/* One that a look at register C finds before its timer does is not lost. */
	due = rtc_deadline(&rtc);
	assert_int_equal(get(&rtc, C, due), 0);
	assert_true(rtc_line(&rtc));
	rtc_acknowledge(&rtc);
	/* As a chip does, when it is told to, and when it is reset. */
	put(&rtc, D, 0, due);
	due = rtc_deadline(&rtc);
	rtc_expire(&rtc, due);
	rtc_acknowledge(&rtc);
	assert_true(rtc_line(&rtc));
	assert_int_equal(rtc_deadline(&rtc), TIME_NEVER);
	put(&rtc, D, GANDALF_RTC_AUTOMATIC, due);
	rtc_reset(&rtc, KHZ, START, 0);
	assert_int_equal(get(&rtc, D, START), 0x80);
}

/* Whatever is written, a deadline that has come raises the line. */
static void random_programs_keep_the_promise(void **state)
{
	struct rtc rtc = at(1704067200);
	u32 random = 11;
	u64 now = START;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		u8 index = (u8)(random_next(&random) % 13);
		u64 due;

		now += random_next(&random) % (random_next(&random) % 8 ? 5000000 : 4000000000u);
		if (index == CENTURY - 1)
			index = CENTURY;
		if (random_next(&random) % 2)
			put(&rtc, index, (u8)random_next(&random), now);
		else
			get(&rtc, index, now);
		due = rtc_deadline(&rtc);
		if (due == TIME_NEVER)
			continue;
		if (due > now) {
			rtc_expire(&rtc, due - 1 > now ? due - 1 : now);
			assert_false(rtc_line(&rtc));
			now = due;
		}
		rtc_expire(&rtc, now);
		assert_true(rtc_line(&rtc));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates_agree_with_the_host),
		cmocka_unit_test(dates_become_seconds),
		cmocka_unit_test(time_goes_on),
		cmocka_unit_test(decimal_and_binary_codes),
		cmocka_unit_test(linux_sets_the_time),
		cmocka_unit_test(setting_without_reset_keeps_the_phase),
		cmocka_unit_test(impossible_times_become_possible),
		cmocka_unit_test(the_update_is_announced),
		cmocka_unit_test(no_interrupt_is_enabled_at_first),
		cmocka_unit_test(update_interrupt),
		cmocka_unit_test(periodic_rates),
		cmocka_unit_test(alarms),
		cmocka_unit_test(a_missed_alarm_is_found),
		cmocka_unit_test(enabling_finds_the_flag_set),
		cmocka_unit_test(a_stopped_clock_interrupts_no_one),
		cmocka_unit_test(memory_is_kept),
		cmocka_unit_test(read_only_registers),
		cmocka_unit_test(interrupts_may_acknowledge_themselves),
		cmocka_unit_test(random_programs_keep_the_promise),
	};

	return RUN_TESTS(tests);
}
