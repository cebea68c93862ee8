/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: one of several RTOSes whose watchdogs expire at the same moment. The n-th has n
 * pages more than 256 KiB and a watchdog of 20 + 8 n ms, and gives its last sign of life so long
 * before a moment that all agree on by the time stamp counter.
 */
#include "guest.h"

#define CYCLE 240 /* milliseconds between two such moments */
#define FIRST 20
#define STEP 8
#define NEAR 1500 /* time stamps behind the millisecond that still count */

/* The milliseconds of the time stamp counter, for an hour, and the time stamps behind them. */
static uint32_t now(uint32_t *rest)
{
	uint32_t low, high, milliseconds;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	__asm__("divl %4" : "=a"(milliseconds), "=d"(*rest)
		: "0"(low), "1"(high), "r"(shared_page->tsc_khz));
	return milliseconds;
}

void main(void)
{
	uint32_t number = (shared_page->memory_size - 0x40000) / 0x1000;
	uint32_t wanted = CYCLE / 2 - FIRST - STEP * number;

	handlers_install();
	for (;;) {
		uint32_t rest, left = (wanted + CYCLE - now(&rest) % CYCLE) % CYCLE;

		if (left == 0 && rest < NEAR)
			break;
		if (left <= 2)
			continue;
		timer_start(1000);
		interrupt_wait();
		timer_start(0);
	}
	hypercall(GANDALF_HYPERCALL_ALIVE, 0, 0);
	for (;;)
		interrupt_wait();
}
