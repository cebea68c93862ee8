/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consoles on screen and keyboard, as a terminal that the VMM has itself. What goes to the UART
 * changes the terminal in memory, and a deadline draws what has changed, a line each time. So
 * the UART does not wait for the screen. The keyboard interrupts, and what it types goes where the
 * bytes from the UART go.
 */
#include "display.h"

#include "core/feature.h"
#include "core/log.h"
#include "core/module.h"
#include "core/schedule.h"
#include "device/keyboard.h"
#include "device/terminal.h"
#include "lib/owner.h"
#include "platform.h"

#define DRAW_RATE 2u      /* how often in a millisecond a line is drawn, at most */
#define KEYBOARD_RATE 20u /* the keyboard's interrupts in a millisecond, at most */
#define KEYBOARD_CODES 2u /* how many codes are taken at each */

FEATURE(screen, FEATURE_SCREEN);

OF_CORE bool display_copies;
OF_CORE static struct terminal terminal;
OF_CORE static struct keyboard keyboard;
OF_CORE static struct deadline drawing, keyboard_waits;

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

static u64 keyboard_expire(UNUSED struct deadline *deadline)
{
	irq_enable(KEYBOARD_IRQ);
	return TIME_NEVER;
}

void display_begin(void)
{
	deadline_init(&drawing, draw_expire, 0);
	deadline_init(&keyboard_waits, keyboard_expire, 0);
	display_copies = (system_table.flags & GANDALF_TABLE_SCREEN) != 0;
	display_clear();
}

void display_listen(void)
{
	if (!display_copies)
		return;
	if (keyboard_start())
		irq_enable(KEYBOARD_IRQ);
	else
		log_line("no keyboard controller");
}

/* Takes some codes. Returns whether they were any. */
static bool keyboard_receive(void)
{
	u8 bytes[KEYBOARD_BYTES];
	int code;
	u32 i;

	for (i = 0; i < KEYBOARD_CODES && (code = keyboard_read()) >= 0; i++) {
		u32 count = keyboard_take(&keyboard, system_table.keys, (u8)code, bytes);

		for (u32 j = 0; j < count; j++)
			console_input(&consoles, bytes[j]);
	}
	return i != 0;
}

/* As the UART, the keyboard is masked until a deadline: its line is kept out, so that a keyboard
 * without an end cannot keep out the timer. It keeps the codes itself meanwhile. */
bool display_interrupt(unsigned irq, bool *received)
{
	if (irq != KEYBOARD_IRQ || !display_copies)
		return false;
	irq_disable(irq);
	deadline_set(&keyboard_waits, rdtsc() + time_tsc_khz / KEYBOARD_RATE);
	*received |= keyboard_receive();
	return true;
}
