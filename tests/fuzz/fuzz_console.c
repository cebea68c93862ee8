/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the console multiplexer with what guests write and the user types, and screen and keyboard
 * behind it. Two bytes of input are one step. Its state must stay sound, and it must come to an
 * end when nothing is added any more: one byte of a console, if it is an empty line,
 * makes at most one insertion. The cursor must stay on the screen.
 */
#include <stdlib.h>

#include "device/console.h"
#include "device/keyboard.h"
#include "device/terminal.h"

#define CONSOLES 3

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct console_mux mux;
static struct console *consoles[CONSOLES], *log_console;
static struct keyboard keyboard;
static struct gandalf_key keys[2][GANDALF_KEYS];
static struct terminal terminal;
static u16 screen[TERMINAL_LINES * TERMINAL_COLUMNS];

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void show(u8 byte)
{
	terminal_write(&terminal, byte);
	require(terminal.line < TERMINAL_LINES && terminal.column <= TERMINAL_COLUMNS);
	terminal_draw(&terminal, screen);
}

/* Keys of all kinds, so that each code is one. */
static void make_keys(void)
{
	static const u16 kinds[] = { 0, GANDALF_KEY_SEQUENCE, GANDALF_KEY_HELD, GANDALF_KEY_LOCK,
				     0x400, 0x2000 };

	for (u32 i = 0; i < 2 * GANDALF_KEYS; i++) {
		struct gandalf_key *key = &keys[i / GANDALF_KEYS][i % GANDALF_KEYS];

		for (u32 j = 0; j < 3; j++)
			key->values[j] = (u16)(kinds[(i + j) % 6] + (i * 5 + j) % 128);
		key->locks = i % 4;
	}
}

static void press(u8 code)
{
	u8 bytes[KEYBOARD_BYTES];
	u32 count = keyboard_take(&keyboard, keys, code, bytes);

	require(count <= KEYBOARD_BYTES);
	for (u32 i = 0; i < count; i++)
		console_input(&mux, bytes[i]);
}

/* What takes long to put together comes later, but it comes. */
static bool output(void)
{
	static unsigned waits;
	bool expected = console_has_output(&mux);
	int byte = console_output(&mux);
	bool came = byte >= 0;

	if (came)
		show((u8)byte);
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
	case 5:
		press(value);
		break;
	default:
		put(console, value, 1);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned bytes = 0;

	console_mux_init(&mux);
	terminal_init(&terminal);
	make_keys();
	keyboard = (struct keyboard){0};
	for (unsigned i = 0; i < CONSOLES; i++)
		consoles[i] = console_add(&mux, i == 0 ? "linux" : i == 1 ? "rtos" : "vmm");
	log_console = consoles[2];
	for (; size >= 2; data += 2, size -= 2)
		step(data[0], data[1]);
	while (output())
		require(++bytes < CONSOLE_INSERT_SIZE * CONSOLES * CONSOLE_OUTPUT_SIZE);
	for (u32 i = 0; i < TERMINAL_LINES; i++)
		terminal_draw(&terminal, screen);
	require(!terminal_is_stale(&terminal));
	for (unsigned i = 0; i < CONSOLES; i++) {
		require(consoles[i]->output_lines == 0);
		require(consoles[i]->output_count < CONSOLE_LINE_SIZE);
		require(consoles[i]->lost == 0);
	}
	return 0;
}
