/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: has the CPU for 10 ms of each 20 ms, in which a vCPU of Linux waits that was there,
 * or goes on elsewhere. Each 200 ms it prints, cumulative,
 *
 *	bursts=N missed=N
 *
 * missed being the expiries that were merged because it could not run in time.
 */
#include "guest.h"
#include "print.h"

#define PERIOD 20000 /* microseconds */
#define WORK 10000
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
