/* SPDX-License-Identifier: Apache-2.0 */
/* The VGA's text screen: where the log goes on a PC without a UART. */
#pragma once

#include "lib/types.h"

/* Empties the screen. */
void vga_clear(void);
/* Writes behind what is there, and scrolls. Understands CR, LF, and the erase
 * sequence of the console multiplexer; other escape sequences are left out. */
void vga_write(u8 byte);
