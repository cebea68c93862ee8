/* SPDX-License-Identifier: Apache-2.0 */
/* The VGA's text screen: where the log goes on a PC without a UART. */
#pragma once

#include "lib/types.h"

/* Empties the screen. */
void vga_clear(void);
/* Whether a byte can be written now. If not, the screen is being scrolled, and a part of that
 * has been done, some 250 instructions: so often is to be asked until it is. */
MUST_CHECK bool vga_is_ready(void);
/* Writes behind what is there, when the screen is ready. Understands CR, LF, and the erase
 * sequence of the console multiplexer; other escape sequences are left out. */
void vga_write(u8 byte);
