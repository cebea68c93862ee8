/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills and empties the buffers of one console. They hold output that is not shown yet, and typed
 * bytes that the guest has not read yet.
 */
#include "device/console_buffer.h"

void console_push(struct console *console, u8 byte)
{
	console->output[console->output_total++ % CONSOLE_OUTPUT_SIZE] = byte;
	console->output_count++;
	if (byte == '\n')
		console->output_lines++;
}

void console_end_line(struct console *console)
{
	if (CONSOLE_OUTPUT_SIZE - console->output_count < 2)
		return;
	console->end_due = false;
	console_push(console, '\r');
	console_push(console, '\n');
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
	if (console->end_due)
		console_end_line(console);
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
