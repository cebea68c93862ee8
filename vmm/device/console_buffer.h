/* SPDX-License-Identifier: Apache-2.0 */
/* The functions by which the multiplexer uses the buffers of one console. */
#pragma once

#include "device/console.h"

/* Returns the oldest byte that is not shown yet. There must be one. */
static inline u8 console_peek(const struct console *console)
{
	u32 first = console->output_total - console->output_count;

	return console->output[first % CONSOLE_OUTPUT_SIZE];
}

/* Returns the next typed byte, of which there must be one. */
static inline u8 console_peek_input(const struct console *console)
{
	return console->input[console->input_first];
}

/* Returns the console behind this one, in turn. */
static inline struct console *console_next(struct console_mux *mux, struct console *console)
{
	return ++console == &mux->consoles[mux->count] ? mux->consoles : console;
}

/* Takes the oldest byte of output away and returns it. */
u8 console_pop(struct console *console);
/* Adds a byte of output. There must be room. */
void console_push(struct console *console, u8 byte);
/* Adds a typed byte, which is lost if there is no room. */
void console_push_input(struct console *console, u8 byte);
/* Ends the line of a guest that has stopped, which is due, if there is room. */
void console_end_line(struct console *console);
