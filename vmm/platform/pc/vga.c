/* SPDX-License-Identifier: Apache-2.0 */
/* The VGA's text screen, 80 by 25, through the VMM's map of low memory. */
#include "platform/pc/vga.h"

#include "arch/ia32/layout.h"
#include "lib/string.h"

enum { COLUMNS = 80, LINES = 25, ATTRIBUTE = 0x0700, ESCAPE = 0x1b };

static u32 column, line;
static bool in_escape;

static u16 *cell(u32 at_line, u32 at_column)
{
	return (u16 *)(LAYOUT_IMAGE + 0xb8000) + at_line * COLUMNS + at_column;
}

static void line_clear(u32 at_line, u32 from)
{
	for (; from < COLUMNS; from++)
		*cell(at_line, from) = ATTRIBUTE | ' ';
}

void vga_clear(void)
{
	for (line = LINES; line != 0; line--)
		line_clear(line - 1, 0);
	column = 0;
}

static void line_feed(void)
{
	if (++line < LINES)
		return;
	line = LINES - 1;
	memmove(cell(0, 0), cell(1, 0), (LINES - 1) * COLUMNS * sizeof(u16));
	line_clear(line, 0);
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
		if (column == COLUMNS) {
			column = 0;
			line_feed();
		}
		*cell(line, column++) = (u16)(ATTRIBUTE | byte);
	}
}
