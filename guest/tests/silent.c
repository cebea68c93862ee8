/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: gives a sign of life every millisecond, until it is told on its
 * console how to fall silent: l loops with interrupts disabled, h goes on halting
 * and taking its timer's interrupts, but gives no sign any more.
 */
#include "guest.h"
#include "print.h"

#define PERIOD 1000 /* microseconds */

void main(void)
{
	char command = '\0';

	handlers_install();
	timer_start(PERIOD);
	print("silent: alive\n");
	for (;;) {
		if (command != 'h')
			hypercall(GANDALF_HYPERCALL_ALIVE, 0, 0);
		if (command != 'h' && console_read(&command, 1) == 1)
			print("silent: from now on\n");
		while (command == 'l')
			cpu_hold();
		interrupt_wait();
	}
}
