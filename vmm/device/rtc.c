/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MC146818. While it runs, the date is second 0 plus the seconds since
 * "origin", and the time registers are filled in when the guest looks; while the
 * guest sets it, they are plain memory.
 */
#include "device/rtc.h"

#include "lib/math.h"

#define REGISTER_SECOND 0x00
#define REGISTER_SECOND_ALARM 0x01
#define REGISTER_MINUTE 0x02
#define REGISTER_MINUTE_ALARM 0x03
#define REGISTER_HOUR 0x04
#define REGISTER_HOUR_ALARM 0x05
#define REGISTER_WEEKDAY 0x06
#define REGISTER_DAY 0x07
#define REGISTER_MONTH 0x08
#define REGISTER_YEAR 0x09
#define REGISTER_A 0x0a
#define REGISTER_B 0x0b
#define REGISTER_C 0x0c
#define REGISTER_D 0x0d
#define REGISTER_CENTURY 0x32

#define A_UPDATING 0x80
#define A_DIVIDER_RESET 0x60 /* and 0x70 */
#define A_DIVIDER_32768 0x20
#define A_RATE 0x0f
#define A_RATE_1024 0x06

#define B_SET 0x80
#define B_UPDATE 0x10
#define B_BINARY 0x04
#define B_24_HOURS 0x02

/* Register C, and the same bits enable the interrupts in register B. */
#define C_REQUEST 0x80
#define C_PERIODIC 0x40
#define C_ALARM 0x20
#define C_UPDATE 0x10
#define C_CAUSES 0x70

#define D_VALID 0x80
#define HOUR_PM 0x80
#define ALARM_ANY 0xc0 /* both bits set: every value matches */

/* The clock's 32,768 Hz, as clocks = ticks * 4096 / (kHz * 125). */
#define CLOCK_NUMERATOR 4096u
#define TSC_PER_KHZ 125u

#define DAY_SECONDS 86400u
#define DAYS_TO_1970 719468u /* since 0000-03-01 */
#define WEEKDAY_OF_DAY_0 3u  /* a Wednesday */

static bool is_time(u8 index)
{
	return index <= REGISTER_YEAR || index == REGISTER_CENTURY;
}

static bool is_alarm(u8 index)
{
	return index == REGISTER_SECOND_ALARM || index == REGISTER_MINUTE_ALARM ||
	       index == REGISTER_HOUR_ALARM;
}

/* Years begin in March here, so that the leap day is the last one. */
static u32 days_from_date(u32 year, u32 month, u32 day)
{
	u32 march_year = month > 2 ? year : year - 1;
	u32 month_from_march = month > 2 ? month - 3 : month + 9;

	return march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400 +
	       (153 * month_from_march + 2) / 5 + day - 1;
}

static void date_from_days(u32 days, u32 *year, u32 *month, u32 *day)
{
	u32 of_era = days % 146097;
	u32 year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	u32 of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	u32 month_from_march = (5 * of_year + 2) / 153;

	*day = of_year - (153 * month_from_march + 2) / 5 + 1;
	*month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
	*year = days / 146097 * 400 + year_of_era + (*month <= 2);
}

u32 rtc_seconds(u32 year, u32 month, u32 day, u32 hour, u32 minute, u32 second)
{
	return (days_from_date(year, month, day) - DAYS_TO_1970) * DAY_SECONDS + hour * 3600 +
	       minute * 60 + second;
}

static u64 second_length(const struct rtc *rtc)
{
	return (u64)rtc->tsc_khz * 1000;
}

/* Whole seconds since second 0. */
static u64 seconds_at(const struct rtc *rtc, u64 time)
{
	return divide_u64(divide_u64(time - rtc->origin, rtc->tsc_khz, NULL), 1000, NULL);
}

static u64 second_start(const struct rtc *rtc, u64 second)
{
	return rtc->origin + second * second_length(rtc);
}

static u64 clocks_at(const struct rtc *rtc, u64 time)
{
	return multiply_divide(time - rtc->origin, CLOCK_NUMERATOR, rtc->tsc_khz * TSC_PER_KHZ);
}

static bool divider_runs(const struct rtc *rtc)
{
	return (rtc->registers[REGISTER_A] & A_DIVIDER_RESET) != A_DIVIDER_RESET;
}

static u8 encode(const struct rtc *rtc, u32 value)
{
	if (rtc->registers[REGISTER_B] & B_BINARY)
		return (u8)value;
	return (u8)(value / 10 % 10 << 4 | value % 10);
}

static u32 decode_register(const struct rtc *rtc, u8 value)
{
	if (rtc->registers[REGISTER_B] & B_BINARY)
		return value;
	return (value >> 4) * 10u + (value & 15);
}

static u8 encode_hour(const struct rtc *rtc, u32 hour)
{
	if (rtc->registers[REGISTER_B] & B_24_HOURS)
		return encode(rtc, hour);
	return encode(rtc, hour % 12 == 0 ? 12 : hour % 12) | (hour >= 12 ? HOUR_PM : 0);
}

static u32 decode_hour(const struct rtc *rtc, u8 value)
{
	if (rtc->registers[REGISTER_B] & B_24_HOURS)
		return decode_register(rtc, value);
	return decode_register(rtc, value & (u8)~HOUR_PM) % 12 + (value & HOUR_PM ? 12 : 0);
}

/* Fills the time registers with the time of a whole second since second 0. */
static void rtc_show(struct rtc *rtc, u64 second)
{
	u8 *registers = rtc->registers;
	u32 of_day;
	u32 days = rtc->days +
		   (u32)divide_u64(rtc->second_of_day + second, DAY_SECONDS, &of_day);
	u32 year;
	u32 month;
	u32 day;

	date_from_days(days, &year, &month, &day);
	registers[REGISTER_SECOND] = encode(rtc, of_day % 60);
	registers[REGISTER_MINUTE] = encode(rtc, of_day / 60 % 60);
	registers[REGISTER_HOUR] = encode_hour(rtc, of_day / 3600);
	registers[REGISTER_WEEKDAY] =
		(u8)((days + WEEKDAY_OF_DAY_0 + rtc->weekday_shift) % 7 + 1);
	registers[REGISTER_DAY] = encode(rtc, day);
	registers[REGISTER_MONTH] = encode(rtc, month);
	registers[REGISTER_YEAR] = encode(rtc, year % 100);
	registers[REGISTER_CENTURY] = encode(rtc, year / 100);
}

static u32 clamp(u32 value, u32 low, u32 high)
{
	return value < low ? low : value > high ? high : value;
}

/* Makes the time registers second 0. Impossible values become the nearest one. */
static void rtc_parse(struct rtc *rtc)
{
	const u8 *registers = rtc->registers;
	u32 century = clamp(decode_register(rtc, registers[REGISTER_CENTURY]), 1, 99);
	u32 year = clamp(decode_register(rtc, registers[REGISTER_YEAR]), 0, 99);
	u32 month = clamp(decode_register(rtc, registers[REGISTER_MONTH]), 1, 12);
	u32 day = clamp(decode_register(rtc, registers[REGISTER_DAY]), 1, 31);

	rtc->days = days_from_date(century * 100 + year, month, day);
	rtc->second_of_day =
		clamp(decode_hour(rtc, registers[REGISTER_HOUR]), 0, 23) * 3600 +
		clamp(decode_register(rtc, registers[REGISTER_MINUTE]), 0, 59) * 60 +
		clamp(decode_register(rtc, registers[REGISTER_SECOND]), 0, 59);
	rtc->weekday_shift = (u8)((clamp(registers[REGISTER_WEEKDAY], 1, 7) - 1 + 7 -
				   (rtc->days + WEEKDAY_OF_DAY_0) % 7) % 7);
}

/* The seconds, 1..86400, until the alarm's next match; 0 if it never matches. */
static u32 alarm_distance(const struct rtc *rtc, u32 second_of_day)
{
	u8 second = rtc->registers[REGISTER_SECOND_ALARM];
	u8 minute = rtc->registers[REGISTER_MINUTE_ALARM];
	u8 hour = rtc->registers[REGISTER_HOUR_ALARM];
	bool any_second = (second & ALARM_ANY) == ALARM_ANY;
	bool any_minute = (minute & ALARM_ANY) == ALARM_ANY;
	bool any_hour = (hour & ALARM_ANY) == ALARM_ANY;
	u32 distance = 1;

	if ((!any_second && decode_register(rtc, second) > 59) ||
	    (!any_minute && decode_register(rtc, minute) > 59) ||
	    (!any_hour && decode_hour(rtc, hour) > 23))
		return 0;
	/* Every hour, then minute, then second is tried at most twice: some 200 rounds. */
	for (;;) {
		u32 time = (second_of_day + distance) % DAY_SECONDS;

		if (!any_hour && decode_hour(rtc, hour) != time / 3600)
			distance += 3600 - time % 3600;
		else if (!any_minute && decode_register(rtc, minute) != time / 60 % 60)
			distance += 60 - time % 60;
		else if (!any_second && decode_register(rtc, second) != time % 60)
			distance++;
		else
			return distance;
	}
}

/* The same, from a whole second since second 0. */
static u32 alarm_distance_from(const struct rtc *rtc, u64 second)
{
	u32 of_day;

	divide_u64(rtc->second_of_day + second, DAY_SECONDS, &of_day);
	return alarm_distance(rtc, of_day);
}

/* The periodic interrupt's period is 2 to the power of this, in clocks; 0: off. */
static unsigned periodic_shift(const struct rtc *rtc)
{
	unsigned rate = rtc->registers[REGISTER_A] & A_RATE;

	return rate == 0 ? 0 : rate < 3 ? rate + 6 : rate - 1;
}

void rtc_expire(struct rtc *rtc, u64 now)
{
	u8 *flags = &rtc->registers[REGISTER_C];
	unsigned shift = periodic_shift(rtc);
	u64 before = rtc->checked;
	u64 second = seconds_at(rtc, before);
	u64 passed = seconds_at(rtc, now) - second;
	u32 distance;

	if (!divider_runs(rtc))
		return;
	rtc->checked = now;
	if (shift != 0 && clocks_at(rtc, now) >> shift != clocks_at(rtc, before) >> shift)
		*flags |= C_PERIODIC;
	if (!rtc->running || passed == 0)
		return;
	*flags |= C_UPDATE;
	distance = alarm_distance_from(rtc, second);
	if (distance != 0 && distance <= passed)
		*flags |= C_ALARM;
}

bool rtc_line(const struct rtc *rtc)
{
	return rtc->registers[REGISTER_B] & rtc->registers[REGISTER_C] & C_CAUSES;
}

u64 rtc_deadline(const struct rtc *rtc)
{
	u8 enabled = rtc->registers[REGISTER_B];
	unsigned shift = periodic_shift(rtc);
	u64 second = seconds_at(rtc, rtc->checked);
	u64 deadline = TIME_NEVER;
	u32 distance = 0;
	u64 time;

	if (rtc_line(rtc) || !divider_runs(rtc))
		return TIME_NEVER;
	if (enabled & C_PERIODIC && shift != 0) {
		time = ((clocks_at(rtc, rtc->checked) >> shift) + 1) << shift;
		deadline = rtc->origin + multiply_divide_up(time, rtc->tsc_khz * TSC_PER_KHZ,
							    CLOCK_NUMERATOR);
	}
	if (!rtc->running)
		return deadline;
	if (enabled & C_UPDATE)
		distance = 1;
	else if (enabled & C_ALARM)
		distance = alarm_distance_from(rtc, second);
	time = second_start(rtc, second + distance);
	return distance != 0 && time < deadline ? time : deadline;
}

/* Turns the running clock into registers that the guest can write. */
static void rtc_stop(struct rtc *rtc, u64 now)
{
	u64 second = seconds_at(rtc, now);

	if (!rtc->running)
		return;
	rtc_show(rtc, second);
	/* The phase of the second is kept: setting the time does not touch it. */
	rtc->origin = second_start(rtc, second);
	rtc->running = false;
}

/* Goes on from the registers if neither SET nor the divider forbids it. */
static void rtc_start(struct rtc *rtc, u64 now)
{
	if (rtc->registers[REGISTER_B] & B_SET || !divider_runs(rtc))
		return;
	rtc->origin = second_start(rtc, seconds_at(rtc, now));
	rtc_parse(rtc);
	rtc->running = true;
}

static void rtc_write_a(struct rtc *rtc, u8 value, u64 now)
{
	bool ran = divider_runs(rtc);

	if ((value & A_DIVIDER_RESET) == A_DIVIDER_RESET)
		rtc_stop(rtc, now);
	rtc->registers[REGISTER_A] = value & (u8)~A_UPDATING;
	if (ran || !divider_runs(rtc))
		return;
	/* Released from reset, the divider ends its first second after half of it. */
	rtc->origin = now - second_length(rtc) / 2;
	rtc->checked = now;
	rtc_start(rtc, now);
}

/* A change of the data mode takes effect on the registers as they are read. */
static void rtc_write_b(struct rtc *rtc, u8 value, u64 now)
{
	if (value & B_SET) {
		rtc_stop(rtc, now);
		value &= (u8)~B_UPDATE;
	}
	rtc->registers[REGISTER_B] = value;
	if (!rtc->running)
		rtc_start(rtc, now);
}

static void rtc_write_register(struct rtc *rtc, u8 value, u64 now)
{
	u8 index = rtc->index;

	rtc_expire(rtc, now);
	switch (index) {
	case REGISTER_A:
		rtc_write_a(rtc, value, now);
		break;
	case REGISTER_B:
		rtc_write_b(rtc, value, now);
		break;
	case REGISTER_C:
	case REGISTER_D:
		break;
	default:
		if (!is_time(index) || is_alarm(index)) {
			rtc->registers[index] = value;
			break;
		}
		rtc_stop(rtc, now);
		rtc->registers[index] = value;
		rtc_start(rtc, now);
	}
}

static u8 rtc_read_a(const struct rtc *rtc, u64 now)
{
	u64 end = second_start(rtc, seconds_at(rtc, now) + 1);

	/* The chip warns 244 microseconds before an update. */
	if (rtc->running && end - now <= rtc->tsc_khz / 4)
		return rtc->registers[REGISTER_A] | A_UPDATING;
	return rtc->registers[REGISTER_A];
}

static u8 rtc_read_c(struct rtc *rtc, u64 now)
{
	u8 value;

	rtc_expire(rtc, now);
	value = rtc->registers[REGISTER_C] | (rtc_line(rtc) ? C_REQUEST : 0);
	rtc->registers[REGISTER_C] = 0;
	return value;
}

u8 rtc_read(struct rtc *rtc, u16 port, u64 now)
{
	if (port != 0x71)
		return 0xff;
	if (rtc->index == REGISTER_A)
		return rtc_read_a(rtc, now);
	if (rtc->index == REGISTER_C)
		return rtc_read_c(rtc, now);
	if (rtc->running && is_time(rtc->index) && !is_alarm(rtc->index))
		rtc_show(rtc, seconds_at(rtc, now));
	return rtc->registers[rtc->index];
}

void rtc_write(struct rtc *rtc, u16 port, u8 value, u64 now)
{
	if (port == 0x70)
		rtc->index = value & (RTC_REGISTERS - 1);
	else if (port == 0x71)
		rtc_write_register(rtc, value, now);
}

void rtc_reset(struct rtc *rtc, u32 tsc_khz, u64 now, u32 seconds)
{
	*rtc = (struct rtc){
		.origin = now,
		.checked = now,
		.tsc_khz = tsc_khz,
		.days = DAYS_TO_1970 + seconds / DAY_SECONDS,
		.second_of_day = seconds % DAY_SECONDS,
		.running = true,
	};
	rtc->registers[REGISTER_A] = A_DIVIDER_32768 | A_RATE_1024;
	rtc->registers[REGISTER_B] = B_24_HOURS;
	rtc->registers[REGISTER_D] = D_VALID;
}
