/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the console multiplexer with what guests write and the user types. Two
 * bytes of input are one step. Its state must stay sound, and it must come to an
 * end when nothing is added any more: one byte of a console, if it is an empty line,
 * makes at most one insertion.
 */
#include <stdlib.h>

#include "device/console.h"

#define CONSOLES 3

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct console_mux mux;
static struct console *consoles[CONSOLES], *log_console;

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* What takes long to put together comes later, but it comes. */
static bool output(void)
{
	static unsigned waits;
	bool expected = console_has_output(&mux);
	bool came = console_output(&mux) >= 0;

	require(expected || !came);
	waits = expected && !came ? waits + 1 : 0;
	require(waits <= CONSOLE_OUTPUT_SIZE);
	return expected;
}

static void put(struct console *console, u8 value, unsigned times)
{
	while (times-- > 0) {
		u32 before = console->output_total;
		bool room = console == log_console || console_room(console) > 0;

		if (console == log_console)
			console_put_dropping(&mux, console, (char)value);
		else
			require(console_put(console, (char)value) == room);
		require(console->output_total == before + room);
	}
}

static void step(u8 what, u8 value)
{
	struct console *console = consoles[what % CONSOLES];

	switch (what >> 5) {
	case 0:
		console_input(&mux, value);
		break;
	case 1:
		console_get(console);
		if (console != log_console)
			console_finish_line(console);
		break;
	case 2:
		console_set_focus(&mux, console);
		break;
	case 3:
		put(console, value, 300);
		break;
	case 4:
		for (unsigned i = 0; i < value; i++)
			output();
		break;
	default:
		put(console, value, 1);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned bytes = 0;

	console_mux_init(&mux);
	for (unsigned i = 0; i < CONSOLES; i++)
		consoles[i] = console_add(&mux, i == 0 ? "linux" : i == 1 ? "rtos" : "vmm");
	log_console = consoles[2];
	for (; size >= 2; data += 2, size -= 2)
		step(data[0], data[1]);
	while (output())
		require(++bytes < CONSOLE_INSERT_SIZE * CONSOLES * CONSOLE_OUTPUT_SIZE);
	for (unsigned i = 0; i < CONSOLES; i++) {
		require(consoles[i]->output_lines == 0);
		require(consoles[i]->output_count < CONSOLE_LINE_SIZE);
		require(consoles[i]->lost == 0);
	}
	return 0;
}
