/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: the survivor beside others that go wrong. Its timer interrupts
 * every millisecond; once a second it prints, cumulative,
 *
 *	beats=N missed=N
 *
 * missed being the expiries that were merged because it could not run in time.
 */
#include "guest.h"
#include "print.h"

#define PERIOD 1000 /* microseconds */
#define BEATS_PER_LINE 1000

void main(void)
{
	uint32_t line = BEATS_PER_LINE;

	handlers_install();
	timer_start(PERIOD);
	for (;;) {
		uint32_t beats = interrupt_count[GANDALF_VECTOR_TIMER];
		uint32_t missed = shared_page->timer_overruns;

		if (beats + missed < line) {
			interrupt_wait();
			continue;
		}
		print("beats=%u missed=%u\n", beats, missed);
		line = ((beats + missed) / BEATS_PER_LINE + 1) * BEATS_PER_LINE;
	}
}
