/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's 8254 timer (Intel 8254 data sheet). Other clocks are measured against it, and it is
 * the VMM's timer if there is no local APIC. */
#pragma once

#include "platform/pc/timer.h"

extern const struct timer_hardware i8254_timer;

/* Returns the ticks of the TSC in a millisecond, by the best of several measurements of 10 ms. It
 * must be called before the timer is used. */
u32 i8254_measure_tsc(void);
/* Waits for a number of the 8254's clocks, at most 65,535. A second has 1,193,182. */
void i8254_wait(u32 clocks);
