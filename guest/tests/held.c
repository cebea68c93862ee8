/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: has the CPU to itself from its start until something is typed on its console, so that
 * no vCPU of Linux can begin there; then says so and leaves it for ever.
 */
#include "guest.h"
#include "print.h"

void main(void)
{
	char typed;

	while (console_read(&typed, 1) == 0)
		cpu_hold();
	print("held: leaves the CPU\n");
	for (;;)
		interrupt_wait();
}
