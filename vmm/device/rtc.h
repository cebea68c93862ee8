/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual MC146818 real-time clock of one guest, with 114 bytes of memory.
 * As in the virtual PIT, time is the time stamp counter and nothing runs in
 * between: date, flags and interrupt are worked out when they are asked for.
 * Hours are those of the day, 0 to 23, and the day of the week is the date's.
 */
#pragma once

#include "lib/types.h"

#define RTC_REGISTERS 128

struct rtc {
	u64 origin;       /* time at which second 0 below began */
	u64 clocks;       /* of 32,768 Hz since then, as far as register C tells */
	u32 tsc_khz;
	u32 days, second_of_day; /* of second 0, the days since 0000-03-01 */
	u8 index;         /* port 0x70 */
	bool running;     /* divider on and SET clear */
	u8 registers[RTC_REGISTERS]; /* time registers: only while it is stopped */
};

/*
 * Starts with seconds since 1970-01-01 00:00 (read from the real clock), 24 h,
 * BCD, no interrupt. tsc_khz: 2,000..8,000,000. now: the time stamp counter,
 * here and below.
 */
void rtc_reset(struct rtc *rtc, u32 tsc_khz, u64 now, u32 seconds);

/* Ports 0x70 and 0x71; bit 7 of 0x70 (NMI mask) is ignored. */
u8 rtc_read(struct rtc *rtc, u16 port, u64 now);
void rtc_write(struct rtc *rtc, u16 port, u8 value, u64 now);

/*
 * When the interrupt line will rise; TIME_NEVER if it is high or no interrupt
 * is enabled. To be asked again after each rtc_read(), rtc_write() and
 * rtc_expire(): reading register C lowers the line, and so may rtc_acknowledge().
 */
u64 rtc_deadline(const struct rtc *rtc);

/* Brings the flags up to now. */
void rtc_expire(struct rtc *rtc, u64 now);

/* The level of IRQ 8. */
bool rtc_line(const struct rtc *rtc);

/* To be called when the level has been passed on: it falls then, without a look at register C, if
 * interrupts acknowledge themselves (GANDALF_RTC_AUTOMATIC). */
void rtc_acknowledge(struct rtc *rtc);
