/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: an RTOS that does what it may, all the time: it prints in long and in short lines,
 * reads what is typed, sets its timer anew, and uses the FPU. Others start, stop and pause it.
 */
#include "guest.h"
#include "print.h"

#define PERIOD 61 /* different ones, in microseconds */
#define REST 400  /* above which they are, so that others have the CPU, too */
#define LINE 250

static void line_print(uint32_t round)
{
	char line[LINE];

	for (uint32_t i = 0; i < LINE; i++)
		line[i] = (char)('a' + i % 26);
	line[LINE - 1 - round % 7] = '\n';
	hypercall(GANDALF_HYPERCALL_CONSOLE_WRITE, (uint32_t)line, LINE);
}

void main(void)
{
	char typed[GANDALF_CONSOLE_CHUNK];

	handlers_install();
	for (uint32_t round = 0;; round++) {
		timer_start(REST + round % PERIOD);
		interrupt_wait();
		if (round % 4 == 0)
			line_print(round);
		console_read(typed, sizeof(typed));
		__asm__ volatile("fnop");
	}
}
