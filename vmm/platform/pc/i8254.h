/* SPDX-License-Identifier: Apache-2.0 */
/* The real 8254 timer: the reference for calibration, and the VMM's timer where
 * there is no local APIC (Intel 8254 data sheet). */
#pragma once

#include "platform/pc/timer.h"

extern const struct timer_hardware i8254_timer;

/* Ticks of the TSC in a millisecond, the best of several measurements of
 * 10 ms; before anything else. */
u32 i8254_measure_tsc(void);
/* Waits the given number of 8254 clocks (1,193,182 per second), at most 65,535. */
void i8254_wait(u32 clocks);
