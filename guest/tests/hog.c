/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: holds the CPU for ever, interrupts disabled. All guests of lower
 * priority starve, which is an RTOS's right and for the VMM's log to tell.
 */
#include "guest.h"
#include "print.h"

void main(void)
{
	print("hog: holds the CPU for ever\n");
	for (;;)
		cpu_hold();
}
