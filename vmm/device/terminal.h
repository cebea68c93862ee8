/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal of 80 by 25 characters in memory, and what of it a screen does not show yet. Bytes
 * change memory at once. The screen, which is slow and is never read, gets a line at a time.
 *
 * It does what programs for a VT100 or for Linux's console ask for: the cursor is moved, parts of
 * lines and of the screen are erased, and text has colours. It scrolls as a whole. Text is UTF-8,
 * and the screen's characters are those of code page 437. Of Unicode's others a question mark is
 * shown. A sequence that it does not know does nothing. It never answers.
 */
#pragma once

#include "lib/types.h"

enum { TERMINAL_COLUMNS = 80, TERMINAL_LINES = 25, TERMINAL_VALUES = 4 };

struct terminal {
	u32 line, column;   /* the cursor; column 80: the next character begins a line */
	u32 top;            /* which element of cells is the first line */
	u32 changed;        /* bit n: the screen does not show line n as it is */
	u32 drawn;          /* the line that was drawn last */
	u8 colours; /* as the VGA has them: of characters in bits 0 to 2, behind them 4 to 6 */
	u8 bold, reverse;   /* 8 or 0; not 0: the two are exchanged */
	u8 escape;          /* state of an escape sequence: ESCAPE_... */
	u32 values[TERMINAL_VALUES], value; /* its numbers, and which is next */
	u32 character, rest; /* UTF-8: bits so far, and bytes that are still to come */
	/* What is in a line up to its length; behind it, it is empty. */
	u8 lengths[TERMINAL_LINES];
	u16 cells[TERMINAL_LINES][TERMINAL_COLUMNS];
};

/* Empties a terminal, which a screen is to show. */
void terminal_init(struct terminal *terminal);
/* Takes a byte, in some 150 instructions at most. */
void terminal_write(struct terminal *terminal, u8 byte);
/* Draws a line that the screen does not show as it is, unless there is none. screen has the cells
 * of 25 lines. A line takes some 150 instructions. */
void terminal_draw(struct terminal *terminal, u16 *screen);

/* Returns whether the screen shows something else. */
static inline bool terminal_is_stale(const struct terminal *terminal)
{
	return terminal->changed != 0;
}
