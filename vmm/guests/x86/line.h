/* SPDX-License-Identifier: Apache-2.0 */
/* How the chips of a mainboard reach their Linux. Interrupts are masked at each call. */
#pragma once

#include "guests/x86/board.h"

/* The lines of the chips, from 0 to 15 as on a PC. */
enum { IRQ_PIT = 0, IRQ_UART = 4, IRQ_RTC = 8 };

/* Notes whether an interrupt waits for the guest. It is called when a line has changed, or what
 * the guest has masked. */
void line_look(struct board *board);
/* Pulses a line, for a physical interrupt, a doorbell or an expiry. */
void line_pulse(struct board *board, unsigned irq);
/* Returns the vector to deliver now, which the 8259s then regard as taken. */
unsigned line_acknowledge(struct board *board);
/* Notes that something has to be looked at when the vCPU is about to go on: a bit of x86->due. If
 * it sleeps it wakes up for that. */
static inline void x86_becomes_due(struct x86 *x86, u8 due)
{
	struct vcpu *vcpu = x86->vcpu;

	x86->due |= due;
	x86->slept |= vcpu->state == VCPU_HALTED ||
		     (vcpu->state == VCPU_PAUSED && vcpu->paused == VCPU_HALTED);
	vcpu_notify(vcpu);
}
/* Notes that a chip (BOARD_DUE_...) has to be looked at when its guest is about to go on. Interrupt
 * handlers leave the work to the guest, so that no RTOS waits for it. A guest that sleeps wakes up
 * for it. */
void line_chip_is_due(struct board *board, u8 due);
/* Lets interrupts in between two steps of a chip's work. */
void chips_pause(void);
