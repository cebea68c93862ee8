/* SPDX-License-Identifier: Apache-2.0 */
/* The fake VMM: functions of vmm/guests/x86. */
#include <stdio.h>
#include <stdlib.h>

#include "fake/asked.h"

#include "guests/x86/board.h"
#include "guests/x86/inject_frame.h"
#include "guests/x86/line.h"
#include "guests/x86/upcall.h"
#include "guests/x86/x86.h"

STAND_IN void upcall_point(UNUSED struct x86 *x86)
{
	fprintf(stderr, "upcall_point() is called\n");
	abort();
}

/* Of a guest whose IDT nobody reads here. */
STAND_IN void inject_triple_fault(UNUSED struct x86 *x86, UNUSED unsigned vector,
				  UNUSED const char *why)
{
	fprintf(stderr, "inject_triple_fault() is called\n");
	abort();
}

STAND_IN void chips_pause(void)
{
}

STAND_IN void board_prepare(void)
{
}

STAND_IN void board_stop(UNUSED struct board *board)
{
}

STAND_IN void board_console(UNUSED struct board *board)
{
}

/* Of a guest that has one source of interrupts. */
STAND_IN unsigned line_acknowledge(struct board *board)
{
	board->x86->interrupt_waits = false;
	return 0x30;
}

STAND_IN void line_pulse(struct board *board, UNUSED unsigned irq)
{
	board->x86->interrupt_waits = true;
}

/* Of vCPUs whose kernels nobody watches. */
STAND_IN void kernel_watch_entered(UNUSED struct x86 *x86)
{
}
