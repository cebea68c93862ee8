/* SPDX-License-Identifier: Apache-2.0 */
/* The VGA's text screen, to which all output goes on a PC without a UART. */
#pragma once

#include "arch/ia32/layout.h"
#include "lib/types.h"

/* Returns the cells of the screen: 25 lines of 80, each a character and its colours. */
static inline u16 *vga_cells(void)
{
	return (u16 *)(LAYOUT_IMAGE + 0xb8000);
}

/* Shows the cursor at a cell. */
void vga_place_cursor(u32 cell);

/* Empties the screen. */
void vga_clear(void);
/* Returns whether a byte can be written now. If not, the screen is being scrolled, and each call
 * does a part of that, some 250 instructions. So the caller asks again until it is true. */
MUST_CHECK bool vga_is_ready(void);
/* Writes a byte at the cursor. The screen must be ready. It understands CR, LF, backspace and the
 * erase sequence of the console multiplexer. Other escape sequences are left out. */
void vga_write(u8 byte);
