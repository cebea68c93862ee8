/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's console, which redraws what is being typed behind each line that is printed. */
#include "terminal.h"

#include <string.h>

#include "demo.h"
#include "print.h"

#define PROMPT "rtos> "
/* Goes back to the first column and clears the line (ECMA-48: EL). */
#define CLEAR_LINE "\r\x1b[K"
#define LINE_MAXIMUM 78

#define KEY_BACKSPACE '\b'
#define KEY_DELETE 0x7f
#define KEY_KILL 0x15 /* Ctrl-U */

static char typed[LINE_MAXIMUM + 1];
static size_t typed_length;

static void output(const char *text)
{
	console_write(text, strlen(text));
}

/* It is called with the lock held, as all that follow are but the last two. */
static void typed_show(void)
{
	if (typed_length) {
		output(PROMPT);
		console_write(typed, typed_length);
	}
}

static void typed_add(char c)
{
	if (typed_length == LINE_MAXIMUM)
		return;
	typed[typed_length++] = c;
	if (typed_length == 1)
		typed_show(); /* the prompt comes with the first key */
	else
		console_write(&c, 1);
}

static void typed_shorten(size_t length)
{
	if (!typed_length)
		return;
	typed_length = length;
	typed[length] = 0;
	output(CLEAR_LINE);
	typed_show();
}

void terminal_print(const char *format, ...)
{
	char line[PRINT_MAXIMUM];
	size_t length;
	va_list arguments;

	va_start(arguments, format);
	length = text_format(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	line[length++] = '\n';
	os_output_lock();
	if (typed_length)
		output(CLEAR_LINE);
	console_write(line, length);
	typed_show();
	os_output_unlock();
}

/* Takes a key. Returns true when a line is complete. */
static bool terminal_key(char c)
{
	if (c == '\r' || c == '\n') {
		typed[typed_length] = 0;
		output(typed_length ? "\n" : PROMPT "\n");
		return true;
	}
	if (c == KEY_BACKSPACE || c == KEY_DELETE)
		typed_shorten(typed_length - 1);
	else if (c == KEY_KILL)
		typed_shorten(0);
	else if (c >= ' ')
		typed_add(c);
	return false;
}

static void terminal_take(const char *keys, size_t count, void (*execute)(char *line))
{
	char line[sizeof(typed)];

	for (size_t i = 0; i < count; i++) {
		bool complete;

		os_output_lock();
		complete = terminal_key(keys[i]);
		if (complete) {
			memcpy(line, typed, sizeof(line));
			typed_length = 0;
		}
		os_output_unlock();
		if (complete)
			execute(line);
	}
}

void terminal_run(void (*execute)(char *line))
{
	char keys[32];
	size_t count;

	for (;;) {
		while ((count = os_console_read(keys, sizeof(keys))))
			terminal_take(keys, count, execute);
		os_key_wait();
	}
}
