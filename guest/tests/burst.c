/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: has the CPU for WORK microseconds of each PERIOD, in which a vCPU of Linux waits that
 * was there, or goes on elsewhere. Behind each tenth it prints, cumulative,
 *
 *	bursts=N missed=N
 *
 * missed being the expiries that were merged because it could not run in time.
 */
#include "guest.h"
#include "print.h"

#ifndef PERIOD
#define PERIOD 20000u
#define WORK 10000u
#endif
#define BURSTS_PER_LINE 10

void main(void)
{
	handlers_install();
	timer_start(PERIOD);
	for (uint32_t bursts = 1;; bursts++) {
		while (interrupt_count[GANDALF_VECTOR_TIMER] < bursts)
			interrupt_wait();
		time_spin(WORK);
		if (bursts % BURSTS_PER_LINE == 0)
			print("bursts=%u missed=%u\n", bursts, shared_page->timer_overruns);
	}
}
