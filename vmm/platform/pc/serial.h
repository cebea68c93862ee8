/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's UART that carries all consoles, a 16450 or better. */
#pragma once

#include "lib/types.h"

/* Sets the UART at a port up for 8 bits, no parity, 1 stop bit and baud bits per second, with its
 * interrupts off. Returns false if there is no UART. */
MUST_CHECK bool serial_init(u16 port, u32 baud);
/* Switches the interrupt for received bytes on. That for room is left to serial_expect_room(). */
void serial_enable_interrupts(void);
/* Returns how many bytes may be written now. It is 0 while earlier bytes wait in the UART. */
unsigned serial_room(void);
/* Sends a byte; there must be room. */
void serial_write(u8 byte);
/* Says whether more output waits, so that the UART interrupts when there is room. */
void serial_expect_room(bool wanted);
/* Returns the next byte received or -1. */
int serial_read(void);
/* Masks the UART's interrupts until serial_interrupt_again(). */
void serial_mask_interrupts(void);
/* Lets the UART interrupt again; without transmit, only for received bytes. The interrupt line
 * falls for a moment: while it is high, a new cause makes no edge that the controller could see. */
void serial_interrupt_again(bool transmit);
/* Returns whether everything has been sent. */
bool serial_idle(void);
