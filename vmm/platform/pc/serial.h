/* SPDX-License-Identifier: Apache-2.0 */
/* The real UART (16450 or better) that carries all consoles. */
#pragma once

#include "lib/types.h"

/* 8N1 at baud, interrupts off; false if there is no UART at port. */
MUST_CHECK bool serial_init(u16 port, u32 baud);
/* Switches the receive interrupt on; transmit follows the demand. */
void serial_enable_interrupts(void);
/* How many bytes may be written now; 0 while the UART sends. */
unsigned serial_room(void);
void serial_write(u8 byte);
/* Whether more output waits: asks for an interrupt when there is room. */
void serial_expect_room(bool wanted);
/* The next byte received or -1. */
int serial_read(void);
/* Until serial_interrupt_again(). */
void serial_mask_interrupts(void);
/* Lets go of its interrupt line for a moment: as long as it asks for an interrupt,
 * a new byte makes no edge that the controller could see. transmit: not only
 * for what is received. */
void serial_interrupt_again(bool transmit);
/* Whether everything has left the wire. */
bool serial_idle(void);
