/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual MC146818 real-time clock of one guest (Motorola data sheet), with 114 bytes of
 * memory. As in the virtual PIT, time is the time stamp counter, and nothing runs between two
 * calls: date, flags and interrupt are worked out when they are asked for. Hours are always 0 to
 * 23, and the day of the week is always that of the date.
 */
#pragma once

#include "lib/types.h"

#define RTC_REGISTERS 128

struct rtc {
	u64 origin;       /* time at which second 0 began, the second that all is counted from */
	u64 clocks;       /* clocks of 32,768 Hz from origin to the last rtc_expire() */
	u32 tsc_khz;      /* frequency of the time stamp counter */
	u32 days, second_of_day; /* the date of second 0: days since 0000-03-01, and its second */
	u8 index;         /* the register that the guest has selected by port 0x70 */
	bool running;     /* the divider runs and SET is clear */
	u8 registers[RTC_REGISTERS]; /* those of the time are valid only while it is stopped */
};

/*
 * Resets the clock to a date, with hours 0 to 23, BCD and no interrupt. seconds is that date in
 * seconds since 1970-01-01 00:00. tsc_khz is 2,000 to 8,000,000. now is the time stamp counter,
 * here and below.
 */
void rtc_reset(struct rtc *rtc, u32 tsc_khz, u64 now, u32 seconds);

/* Read and write ports 0x70 and 0x71. Bit 7 of port 0x70, the mask of NMIs, is ignored. */
u8 rtc_read(struct rtc *rtc, u16 port, u64 now);
void rtc_write(struct rtc *rtc, u16 port, u8 value, u64 now);

/*
 * Returns the time at which the interrupt line will rise, or TIME_NEVER if it is high or no
 * interrupt is enabled. It can change with each rtc_read(), rtc_write(), rtc_expire() and
 * rtc_acknowledge().
 */
u64 rtc_deadline(const struct rtc *rtc);

/* Brings the flags of register C up to now. */
void rtc_expire(struct rtc *rtc, u64 now);

/* Returns the level of the interrupt line, IRQ 8. */
bool rtc_line(const struct rtc *rtc);

/* Says that the level has been passed on. If interrupts acknowledge themselves
 * (GANDALF_RTC_AUTOMATIC), the line falls by it as by a read of register C. */
void rtc_acknowledge(struct rtc *rtc);
