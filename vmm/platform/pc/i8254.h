/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's 8254 timer (Intel 8254 data sheet). Other clocks are measured against it, and it is
 * the VMM's timer if there is no local APIC. */
#pragma once

#include "lib/math.h"
#include "platform/pc/timer.h"

/* Its clocks in a second, and in a measurement of another clock: 10 ms and 15 millionths of that,
 * by which a clock that takes it for 10 ms is wrong by 1.3 seconds a day. */
#define I8254_FREQUENCY 1193182u
#define I8254_MEASURED 11932u

extern const struct timer_hardware i8254_timer;

/* Returns the ticks of the TSC in a millisecond, by the best of several measurements of 10 ms. It
 * must be called before the timer is used. */
u32 i8254_measure_tsc(void);
/* Waits for a number of the 8254's clocks, at most 65,535. Returns the TSC where they begin: what
 * comes before is five accesses to ports, which can take microseconds. */
u64 i8254_wait(u32 clocks);

/* Let counter 2 count on, modulo 2^16; keep what it has at this moment; and return that, as a
 * number that goes up. i8254_wait() puts an end to it. */
void i8254_count_begin(void);
void i8254_latch(void);
u16 i8254_count(void);

/* Returns the kHz of a clock that has ticked so often in a measurement. */
static inline u32 i8254_khz(u64 ticks)
{
	return (u32)multiply_divide(ticks, I8254_FREQUENCY, I8254_MEASURED * 1000);
}
