/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the multiplexer does with the buffers of one console.
 */
#pragma once

#include "device/console.h"

static inline u8 console_peek(const struct console *console)
{
	u32 first = console->output_total - console->output_count;

	return console->output[first % CONSOLE_OUTPUT_SIZE];
}

/* The next byte typed, of which there must be one. */
static inline u8 console_peek_input(const struct console *console)
{
	return console->input[console->input_first];
}

/* Takes the oldest byte, of which there must be one. */
u8 console_pop(struct console *console);
void console_push(struct console *console, u8 byte);
/* From the keyboard: without room it is lost. */
void console_push_input(struct console *console, u8 byte);

/* The unfinished line on the screen: forgets it, and remembers a byte that has gone there. */
void console_line_clear(struct console *console);
void console_line_track(struct console *console, u8 byte);
