/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers of one console. They hold output that is not shown yet, typed bytes that the guest
 * has not read yet, and the unfinished line that is on the screen.
 */
#include "device/console_buffer.h"
#include "device/escape.h"

void console_line_clear(struct console *console)
{
	console->line_length = 0;
	console->escape = ESCAPE_NONE;
}

void console_line_track(struct console *console, u8 byte)
{
	u8 before = console->escape;

	if (byte == '\n') {
		console_line_clear(console);
		return;
	}
	if (before != ESCAPE_NONE || byte == ESCAPE) {
		console->escape = escape_next(before, byte);
		if (before == ESCAPE_NONE)
			console->escape_start = console->line_length;
	}
	if (console->line_length < CONSOLE_LINE_SIZE)
		console->line[console->line_length] = byte;
	if (byte != BELL || before != ESCAPE_NONE)
		console->line_length++;
	if (before != ESCAPE_NONE && console->escape == ESCAPE_NONE && escape_is_once(before, byte))
		console->line_length = console->escape_start;
}

void console_push(struct console *console, u8 byte)
{
	console->output[console->output_total++ % CONSOLE_OUTPUT_SIZE] = byte;
	console->output_count++;
	if (byte == '\n')
		console->output_lines++;
}

/* Ends the line of a guest that has stopped, if that is due and there is room. */
static void line_end(struct console *console)
{
	if (!console->end_due || CONSOLE_OUTPUT_SIZE - console->output_count < 2)
		return;
	console->end_due = false;
	console_push(console, '\r');
	console_push(console, '\n');
}

u8 console_pop(struct console *console)
{
	u8 byte = console_peek(console);

	console->output_count--;
	if (byte == '\n')
		console->output_lines--;
	line_end(console);
	return byte;
}

u32 console_room(const struct console *console)
{
	return console->end_due ? 0 : CONSOLE_OUTPUT_SIZE - console->output_count;
}

bool console_put(struct console *console, char character)
{
	if (console_room(console) == 0)
		return false;
	console_push(console, (u8)character);
	return true;
}

void console_finish_line(struct console *console)
{
	u32 total = console->output_total;

	console->end_due |= total != 0 &&
			    console->output[(total - 1) % CONSOLE_OUTPUT_SIZE] != '\n';
	line_end(console);
}

void console_push_input(struct console *console, u8 byte)
{
	u32 last = console->input_first + console->input_count;

	if (console->input_count == CONSOLE_INPUT_SIZE)
		return;
	console->input[last % CONSOLE_INPUT_SIZE] = byte;
	console->input_count++;
}

bool console_type(struct console *console, u8 byte)
{
	u32 before = console->input_count;

	console_push_input(console, byte);
	return console->input_count != before;
}

int console_get(struct console *console)
{
	u8 byte;

	if (console->input_count == 0)
		return -1;
	byte = console->input[console->input_first];
	console->input_first = (console->input_first + 1) % CONSOLE_INPUT_SIZE;
	console->input_count--;
	return byte;
}

bool console_has_input(const struct console *console)
{
	return console->input_count > 0;
}
