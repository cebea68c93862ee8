/* SPDX-License-Identifier: 0BSD */
/*
 * An application on the VMM's interface alone. A timer of a millisecond counts, and main() prints a
 * line for each second.
 */
#include "print.h"
#include "rtos.h"

static volatile uint32_t milliseconds;

/* If a more urgent guest held the CPU, several expiries come as one interrupt. */
__attribute__((interrupt)) static void timer_interrupt(void *frame)
{
	static uint32_t overruns;
	uint32_t now = shared_page->timer_overruns;

	(void)frame;
	milliseconds += 1 + now - overruns;
	overruns = now;
	interrupt_enable();
}

void main(void)
{
	static struct gandalf_handlers handlers;
	uint32_t seconds = 0;

	handlers.entry[GANDALF_VECTOR_TIMER] = (uint32_t)timer_interrupt;
	handlers_register(&handlers);
	timer_start(1000);
	for (;;) {
		interrupt_wait();
		if (milliseconds / 1000 != seconds) {
			seconds = milliseconds / 1000;
			print("beat %u\n", seconds);
		}
	}
}
