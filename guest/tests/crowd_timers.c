/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: one of several RTOSes whose timers expire at the same moments, which they agree on
 * by the time stamp counter, so that a more urgent RTOS would have to wait for the VMM to serve
 * all of them. Meanwhile none takes its interrupts.
 */
#include "guest.h"

#define PERIOD 50        /* microseconds */
/* Time stamps between two at which a timer is started: a period at 1 GHz. */
#define MOMENT 50000
#define NEAR 800         /* time stamps behind it that still count */
#define BUSY 14000000    /* time stamps that it holds the CPU for */
#define REST 20000       /* microseconds that it leaves the CPU to the others for */

static uint32_t stamp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low;
}

void main(void)
{
	handlers_install();
	for (;;) {
		uint32_t begin;

		while (stamp() % MOMENT > NEAR)
			continue;
		timer_start(PERIOD);
		begin = stamp();
		while (stamp() - begin < BUSY)
			continue;
		timer_start(REST);
		interrupt_wait();
	}
}
