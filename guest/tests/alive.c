/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: gives its watchdog a sign of life each millisecond, until something
 * is typed. Then it runs on and says no more. Prints
 *
 *	alive
 *	silent
 */
#include "guest.h"
#include "print.h"

#define PERIOD 1000 /* microseconds */

void main(void)
{
	char typed[16];

	handlers_install();
	timer_start(PERIOD);
	print("alive\n");
	/* What was typed is taken: it would be there for the next start, too. */
	while (console_read(typed, sizeof(typed)) == 0) {
		hypercall(GANDALF_HYPERCALL_ALIVE, 0, 0);
		interrupt_wait();
	}
	print("silent\n");
	for (;;)
		interrupt_wait();
}
