/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the virtual MC146818. While it runs, the date is that of second 0 plus the seconds since
 * rtc->origin, and the time registers are filled in when the guest reads one. While the guest sets
 * the clock, they are plain memory.
 */
#include "device/rtc.h"

#include "abi/gandalf.h"
#include "lib/date.h"
#include "lib/math.h"

/* Registers 0, 2 and 4 are seconds, minutes and hours. The alarm of each is the next register. */
enum {
	REGISTER_HOUR_ALARM = 0x05,
	REGISTER_WEEKDAY, REGISTER_DAY, REGISTER_MONTH, REGISTER_YEAR,
	REGISTER_A, REGISTER_B, REGISTER_C, REGISTER_D, REGISTER_CENTURY = 0x32,
};

#define A_DIVIDER_RESET 0x60 /* both bits set: the divider does not run */
enum { A_UPDATING = 0x80, A_DIVIDER_32768 = 0x20, A_RATE = 0x0f, A_RATE_1024 = 0x06 };
enum { B_SET = 0x80, B_UPDATE = 0x10, B_BINARY = 0x04, B_24_HOURS = 0x02 };
/* Bits of register C. The same bits of register B enable the interrupts. */
enum { C_REQUEST = 0x80, C_PERIODIC = 0x40, C_ALARM = 0x20, C_UPDATE = 0x10, C_CAUSES = 0x70 };

enum { D_VALID = 0x80, ALARM_ANY = 0xc0 /* both bits set: the alarm matches every value */ };

/* The clock has 32,768 Hz: clocks = ticks * 4096 / (kHz * 125). Shifted right by SECOND_SHIFT,
 * clocks are seconds. */
#define CLOCK_NUMERATOR 4096u
#define TSC_PER_KHZ 125u
#define SECOND_SHIFT 15
#define SECOND_CLOCKS (1u << SECOND_SHIFT)
#define WARNING_CLOCKS 8 /* for 244 microseconds before an update, register A tells of it */

#define WEEKDAY_OF_DAY_0 3u  /* a Wednesday */

enum {
	FIELD_SECOND, FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_YEAR, FIELD_CENTURY,
	FIELDS
};

/* The time registers but the day of the week, with the values that they can hold. */
static const struct {
	u8 index, low, high;
} fields[FIELDS] = {
	[FIELD_SECOND] = { 0, 0, 59 }, [FIELD_MINUTE] = { 2, 0, 59 }, [FIELD_HOUR] = { 4, 0, 23 },
	[FIELD_DAY] = { REGISTER_DAY, 1, 31 }, [FIELD_MONTH] = { REGISTER_MONTH, 1, 12 },
	[FIELD_YEAR] = { REGISTER_YEAR, 0, 99 }, [FIELD_CENTURY] = { REGISTER_CENTURY, 1, 99 },
};

/* Returns whether a register counts. The alarms between such registers do not. */
static bool is_time(u8 index)
{
	return index == REGISTER_CENTURY ||
	       (index <= REGISTER_YEAR && (index > REGISTER_HOUR_ALARM || index % 2 == 0));
}

static void date_from_days(u32 days, u32 values[FIELDS])
{
	/* In quarters of a day, the mean century has 146,097 and the mean year 1,461: as many as
	 * four centuries, or four years, have days. */
	u32 century = (4 * days + 3) / 146097;
	u32 of_century = (4 * days + 3) % 146097 | 3;
	u32 year = 100 * century + of_century / 1461;
	u32 of_year = of_century % 1461 / 4;
	u32 month = (5 * of_year + 2) / 153;

	values[FIELD_DAY] = of_year - (153 * month + 2) / 5 + 1;
	year += (month + 2) / 12;
	values[FIELD_MONTH] = (month + 2) % 12 + 1;
	values[FIELD_YEAR] = year % 100;
	values[FIELD_CENTURY] = year / 100;
}

static bool divider_runs(const struct rtc *rtc)
{
	return (rtc->registers[REGISTER_A] & A_DIVIDER_RESET) != A_DIVIDER_RESET;
}

static u8 encode(const struct rtc *rtc, u32 value)
{
	return (u8)(rtc->registers[REGISTER_B] & B_BINARY ? value : value + value / 10 * 6);
}

static u32 decode(const struct rtc *rtc, u8 index)
{
	u32 value = rtc->registers[index];

	return rtc->registers[REGISTER_B] & B_BINARY ? value : value - (value >> 4) * 6;
}

static APART u32 seconds_of(const struct rtc *rtc)
{
	return (u32)(rtc->clocks >> SECOND_SHIFT);
}

/* Returns the day, counted from 0000-03-01, of a moment so many seconds behind second 0. Writes the
 * moment's second in that day to *of_day. */
static u32 day_of(const struct rtc *rtc, u32 second, u32 *of_day)
{
	return rtc->days +
	       (u32)divide_u64((u64)rtc->second_of_day + second, DATE_DAY_SECONDS, of_day);
}

/* Fills the time registers. */
static void rtc_show(struct rtc *rtc)
{
	u32 values[FIELDS], of_day;
	u32 days = day_of(rtc, seconds_of(rtc), &of_day);

	date_from_days(days, values);
	values[FIELD_SECOND] = of_day % 60;
	values[FIELD_MINUTE] = of_day / 60 % 60;
	values[FIELD_HOUR] = of_day / 3600;
	for (u32 i = 0; i < FIELDS; i++)
		rtc->registers[fields[i].index] = encode(rtc, values[i]);
	rtc->registers[REGISTER_WEEKDAY] = (u8)((days + WEEKDAY_OF_DAY_0) % 7 + 1);
}

/* Takes second 0 from the time registers. Impossible values become the nearest possible one. */
static void rtc_parse(struct rtc *rtc)
{
	u32 values[FIELDS] = {0};

	for (u32 i = 0; i < FIELDS; i++) {
		values[i] = minimum(decode(rtc, fields[i].index), fields[i].high);
		if (values[i] < fields[i].low)
			values[i] = fields[i].low;
	}
	rtc->days = date_days(values[FIELD_CENTURY] * 100 + values[FIELD_YEAR],
				   values[FIELD_MONTH], values[FIELD_DAY]);
	rtc->second_of_day =
		(values[FIELD_HOUR] * 60 + values[FIELD_MINUTE]) * 60 + values[FIELD_SECOND];
}

/* Returns the seconds, 1 to 86,400, until the alarm's next match, or 0 if it never matches. */
static u32 alarm_distance(const struct rtc *rtc)
{
	static const u32 units[] = { [FIELD_SECOND] = 1, [FIELD_MINUTE] = 60, [FIELD_HOUR] = 3600 };
	u32 distance = 1;
	u32 field = FIELD_DAY;
	u32 now;

	day_of(rtc, seconds_of(rtc), &now);
	/* Skips to the hour, minute and second that are wanted until all match, which takes six
	 * rounds at most. */
	while (field-- > FIELD_SECOND) {
		u8 alarm = (u8)(fields[field].index + 1);
		u32 wanted = decode(rtc, alarm);
		u32 time = (now + distance) % DATE_DAY_SECONDS;
		u32 values = fields[field].high + 1u;
		u32 value = time / units[field] % values;

		if ((rtc->registers[alarm] & ALARM_ANY) == ALARM_ANY)
			continue;
		if (wanted >= values)
			return 0;
		if (wanted == value)
			continue;
		distance += (wanted + values - value) % values * units[field] - time % units[field];
		field = FIELD_DAY;
	}
	return distance;
}

/* Returns the binary logarithm of the periodic interrupt's period in clocks, or 0 if it is off. */
static unsigned periodic_shift(const struct rtc *rtc)
{
	unsigned rate = rtc->registers[REGISTER_A] & A_RATE;

	return rate == 0 ? 0 : rate < 3 ? rate + 6 : rate - 1;
}

void rtc_expire(struct rtc *rtc, u64 now)
{
	u8 *flags = &rtc->registers[REGISTER_C];
	unsigned shift = periodic_shift(rtc);
	u32 passed;
	u64 clocks = multiply_divide(now - rtc->origin, CLOCK_NUMERATOR,
				     rtc->tsc_khz * TSC_PER_KHZ);

	if (!divider_runs(rtc))
		return;
	if (shift != 0 && clocks >> shift != rtc->clocks >> shift)
		*flags |= C_PERIODIC;
	passed = (u32)(clocks >> SECOND_SHIFT) - seconds_of(rtc);
	if (rtc->running && passed != 0) {
		u32 distance = alarm_distance(rtc);

		*flags |= C_UPDATE;
		if (distance != 0 && distance <= passed)
			*flags |= C_ALARM;
	}
	rtc->clocks = clocks;
}

bool rtc_line(const struct rtc *rtc)
{
	return rtc->registers[REGISTER_B] & rtc->registers[REGISTER_C] & C_CAUSES;
}

void rtc_acknowledge(struct rtc *rtc)
{
	if (rtc->registers[REGISTER_D] & GANDALF_RTC_AUTOMATIC)
		rtc->registers[REGISTER_C] = 0;
}

u64 rtc_deadline(const struct rtc *rtc)
{
	u8 enabled = rtc->registers[REGISTER_B];
	unsigned shift = periodic_shift(rtc);
	u64 deadline = UINT64_MAX;
	u32 distance = 0;
	u64 clocks;

	if (rtc_line(rtc) || !divider_runs(rtc))
		return TIME_NEVER;
	if (enabled & C_PERIODIC && shift != 0)
		deadline = ((rtc->clocks >> shift) + 1) << shift;
	if (rtc->running && enabled & (C_UPDATE | C_ALARM))
		distance = enabled & C_UPDATE ? 1 : alarm_distance(rtc);
	clocks = (u64)(seconds_of(rtc) + distance) << SECOND_SHIFT;
	if (distance != 0 && clocks < deadline)
		deadline = clocks;
	if (deadline == UINT64_MAX)
		return TIME_NEVER;
	return rtc->origin +
	       multiply_divide_up(deadline, rtc->tsc_khz * TSC_PER_KHZ, CLOCK_NUMERATOR);
}

/* Turns the running clock into registers that the guest can write. */
static void rtc_stop(struct rtc *rtc)
{
	if (rtc->running)
		rtc_show(rtc);
	rtc->running = false;
}

/* Goes on from the registers if neither SET nor the divider forbids it. */
static void rtc_start(struct rtc *rtc)
{
	if (rtc->running || rtc->registers[REGISTER_B] & B_SET || !divider_runs(rtc))
		return;
	/* The present second becomes second 0. Its part that has passed is kept. */
	rtc->origin += (u64)seconds_of(rtc) * rtc->tsc_khz * 1000;
	rtc->clocks %= SECOND_CLOCKS;
	rtc_parse(rtc);
	rtc->running = true;
}

static void rtc_write_a(struct rtc *rtc, u8 value, u64 now)
{
	bool ran = divider_runs(rtc);

	if ((value & A_DIVIDER_RESET) == A_DIVIDER_RESET)
		rtc_stop(rtc);
	rtc->registers[REGISTER_A] = value & (u8)~A_UPDATING;
	/* A divider that is released from reset ends its first second after half a second. */
	if (!ran) {
		rtc->origin = now - (u64)rtc->tsc_khz * 500;
		rtc->clocks = SECOND_CLOCKS / 2;
	}
}

/* Writes the register that the guest has selected. It brings the clock up to now first, so most of
 * the rest does not need to know the time. */
static void rtc_write_register(struct rtc *rtc, u8 value, u64 now)
{
	u8 index = rtc->index;

	rtc_expire(rtc, now);
	if (is_time(index) || (index == REGISTER_B && value & B_SET)) {
		rtc_stop(rtc);
		if (index == REGISTER_B)
			value &= (u8)~B_UPDATE;
	}
	if (index == REGISTER_A)
		rtc_write_a(rtc, value, now);
	else if (index == REGISTER_B)
		rtc->registers[REGISTER_B] = value | B_24_HOURS;
	else if (index == REGISTER_D)
		rtc->registers[REGISTER_D] = D_VALID | (value & GANDALF_RTC_AUTOMATIC);
	else if (index != REGISTER_C)
		rtc->registers[index] = value;
	rtc_start(rtc);
}

u8 rtc_read(struct rtc *rtc, u16 port, u64 now)
{
	u8 value;

	if (port != 0x71)
		return 0xff;
	rtc_expire(rtc, now);
	if (rtc->running && is_time(rtc->index))
		rtc_show(rtc);
	value = rtc->registers[rtc->index];
	if (rtc->index == REGISTER_A && rtc->running &&
	    rtc->clocks % SECOND_CLOCKS >= SECOND_CLOCKS - WARNING_CLOCKS)
		value |= A_UPDATING;
	if (rtc->index == REGISTER_C) {
		/* The flags stay, since rtc_acknowledge() is to clear them. */
		if (rtc->registers[REGISTER_D] & GANDALF_RTC_AUTOMATIC)
			return 0;
		value |= rtc_line(rtc) ? C_REQUEST : 0;
		rtc->registers[REGISTER_C] = 0;
	}
	return value;
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
		.origin = now, .tsc_khz = tsc_khz, .running = true,
		.days = DATE_DAYS_TO_1970 + seconds / DATE_DAY_SECONDS,
		.second_of_day = seconds % DATE_DAY_SECONDS,
	};
	rtc->registers[REGISTER_A] = A_DIVIDER_32768 | A_RATE_1024;
	rtc->registers[REGISTER_B] = B_24_HOURS;
	rtc->registers[REGISTER_D] = D_VALID;
}
