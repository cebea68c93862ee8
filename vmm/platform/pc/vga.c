/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the VGA's text screen of 80 by 25 characters, which the VMM sees in its map of low memory.
 */
#include "platform/pc/vga.h"

#include "arch/ia32/cpu.h"
#include "lib/owner.h"
#include "lib/string.h"

/* The CRT controller, and two of its registers. */
enum { CRTC = 0x3d4, CRTC_CURSOR_HIGH = 0x0e, CRTC_CURSOR_LOW = 0x0f };
enum { COLUMNS = 80, LINES = 25, ATTRIBUTE = 0x0700, ESCAPE = 0x1b };
/* Lines that are moved in one step while the screen is scrolled. */
#define SCROLL_STEP 5u
_Static_assert(LINES % SCROLL_STEP == 0, "whole steps");

OF_CORE static u32 column, line;
OF_CORE static u32 to_scroll; /* lines at the bottom that still have to move up */
OF_CORE static bool in_escape;

static u16 *cell(u32 at_line, u32 at_column)
{
	return vga_cells() + at_line * COLUMNS + at_column;
}

static void line_clear(u32 at_line, u32 from)
{
	for (; from < COLUMNS; from++)
		*cell(at_line, from) = ATTRIBUTE | ' ';
}

/* Clears a line below the screen, too. It stays empty, and moves up when the screen is scrolled. */
void vga_clear(void)
{
	for (line = LINES + 1; line != 0; line--)
		line_clear(line - 1, 0);
	column = 0;
}

static void line_feed(void)
{
	if (++line < LINES)
		return;
	line = LINES - 1;
	to_scroll = LINES;
}

static void escape_byte(u8 byte)
{
	if (byte == 'K')
		line_clear(line, column);
	/* A letter ends the sequence. */
	if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z')
		in_escape = false;
}

void vga_write(u8 byte)
{
	if (in_escape) {
		escape_byte(byte);
	} else if (byte == ESCAPE) {
		in_escape = true;
	} else if (byte == '\r') {
		column = 0;
	} else if (byte == '\n') {
		line_feed();
	} else if (byte == '\b') {
		column -= column != 0;
	} else if (byte >= ' ') {
		*cell(line, column++) = (u16)(ATTRIBUTE | byte);
	}
}

void vga_place_cursor(u32 cell)
{
	outb(CRTC, CRTC_CURSOR_HIGH);
	outb(CRTC + 1, (u8)(cell >> 8));
	outb(CRTC, CRTC_CURSOR_LOW);
	outb(CRTC + 1, (u8)cell);
}

/* Ends a full line here and not in vga_write(), since that may begin a scroll. */
bool vga_is_ready(void)
{
	u32 first = LINES - to_scroll;

	if (to_scroll == 0) {
		if (column < COLUMNS)
			return true;
		column = 0;
		line_feed();
		return to_scroll == 0;
	}
	memmove(cell(first, 0), cell(first + 1, 0), SCROLL_STEP * COLUMNS * sizeof(u16));
	to_scroll -= SCROLL_STEP;
	return false;
}
