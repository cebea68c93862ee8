/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the consoles on a screen, as a terminal that the VMM has itself. What goes to the UART
 * changes the terminal in memory, and a deadline draws what has changed, a line each time. So the
 * UART does not wait for the screen. core/keyboard.c is how one types there.
 */
#include "display.h"

#include "core/feature.h"
#include "core/schedule.h"
#include "device/terminal.h"
#include "lib/owner.h"
#include "platform.h"

#define DRAW_RATE 2u /* how often in a millisecond a line is drawn, at most */

FEATURE(screen, FEATURE_SCREEN);

OF_CORE bool display_copies;
OF_CORE static struct terminal terminal;
OF_CORE static struct deadline drawing;

static void draw(void)
{
	u32 column = terminal.column - (terminal.column == TERMINAL_COLUMNS);

	terminal_draw(&terminal, screen_cells());
	screen_place_cursor(terminal.line * TERMINAL_COLUMNS + column);
}

static u64 draw_expire(UNUSED struct deadline *deadline)
{
	draw();
	return terminal_is_stale(&terminal) ? rdtsc() + time_tsc_khz / DRAW_RATE : TIME_NEVER;
}

void display_flush(void)
{
	while (terminal_is_stale(&terminal))
		draw();
}

void display_clear(void)
{
	terminal_init(&terminal);
}

void display_write(u8 byte)
{
	terminal_write(&terminal, byte);
	if (core.guests_started && !deadline_is_set(&drawing))
		deadline_set(&drawing, rdtsc() + time_tsc_khz / DRAW_RATE);
}

void display_begin(bool copies)
{
	deadline_init(&drawing, draw_expire, 0);
	display_copies = copies;
	display_clear();
}
