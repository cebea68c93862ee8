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

/* Bits of x86->due. Interrupt handlers set them where a chip has to be looked at, and do no
 * more. */
enum { BOARD_DUE_PIT = 1, BOARD_DUE_RTC = 2, BOARD_DUE_UART = 4 };

/* Large fields come last, since a small offset takes less code. */
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

/* Notes which chip answers at which port, which is the same for all boards. */
void board_prepare(void);
/* Gives the VM of this processor a mainboard, whose interrupts go to this processor. */
void board_create(struct x86 *x86);
/* Sets the chips as at power-on. The idle vCPU calls it, and lets more urgent guests run
 * meanwhile. */
void board_reset(struct board *board);
/* Stops the chips' timers, so that nothing happens to the chips any more. */
void board_stop(struct board *board);
/* Notes that the console has new input, or room for output, for the UART. */
void board_console(struct board *board);
/* Serves the chips that x86->due names. Interrupts are masked when it is called and when it
 * returns, and are let in between its steps. A sibling's port is served, too, by which the guest
 * may have reset itself: the vCPU is off then, and must not halt. */
void board_settle(struct x86 *x86);
/* Do the guest's IN and OUT, of 1, 2 or 4 bytes. Interrupts are masked. */
u32 port_read(struct x86 *x86, u16 port, u32 size);
void port_write(struct x86 *x86, u16 port, u32 size, u32 value);
