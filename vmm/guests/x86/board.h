/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mainboard of a VM with Linux on a shared CPU: the chips that its vCPUs have in common.
 */
#pragma once

#include "core/time.h"
#include "device/pic.h"
#include "device/pit.h"
#include "device/rtc.h"
#include "device/uart.h"
#include "guests/x86/x86.h"

/* Bits of x86->due: what has happened to a chip, which interrupt handlers only note. */
enum { BOARD_DUE_PIT = 1, BOARD_DUE_RTC = 2, BOARD_DUE_UART = 4 };

/* What is large comes last: a small offset takes less code. */
struct board {
	struct vm *vm;
	struct x86 *x86;           /* the processor to which the 8259s lead */
	struct pic_pair pic;
	u64 pit_served;          /* when the PIT last expired */
	struct deadline pit_deadline, rtc_deadline;
	struct uart uart;
	struct pit pit;
	struct rtc rtc;
};

/* Gives its VM a mainboard, on which it takes the interrupts. */
void board_create(struct x86 *x86);
/* As it is at power-on; on the idle vCPU, which lets others run meanwhile. */
void board_reset(struct board *board);
/* Nothing happens to its chips any more. */
void board_stop(struct board *board);
/* After input came or output went. */
void board_console(struct board *board);
/* Looks at the chips to which something has happened. Interrupts are masked before and behind
 * it. */
void board_settle(struct x86 *x86);
/* The vector to deliver now; the controller regards it as taken. */
unsigned board_acknowledge(struct board *board);
/* A physical interrupt that the guest owns. */
void board_interrupt(struct board *board, unsigned irq);
