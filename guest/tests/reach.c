/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: an RTOS without handlers for exceptions that tries to reach what is typed on its
 * console when it has said that it is ready:
 *	read ADDRESS	reads a word
 *	write ADDRESS	writes a word
 *	jump ADDRESS	goes on there
 * The address is hexadecimal. It says what it has reached. What it must not reach stops it.
 */
#include "guest.h"
#include "print.h"

#define LINE 32

static void line_read(char *line)
{
	for (size_t used = 0; used + 1 < LINE; used++) {
		while (console_read(&line[used], 1) == 0)
			interrupt_wait();
		line[used + 1] = '\0';
		if (line[used] == '\n' || line[used] == '\r')
			return;
	}
}

static uint32_t number(const char *text)
{
	uint32_t value = 0;

	for (; *text > ' '; text++)
		value = value << 4 | (uint32_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static void reach(const char *line)
{
	size_t verb = line[0] == 'w' ? sizeof("write") : sizeof("read");
	volatile uint32_t *word = (uint32_t *)number(line + verb);

	if (line[0] == 'r')
		(void)*word;
	else if (line[0] == 'w')
		*word = 0;
	else
		__asm__ volatile("jmp *%0" : : "r"(word));
	print("reach: reached %s", line);
}

void main(void)
{
	char line[LINE];

	interrupts_install();
	for (;;) {
		print("reach: ready\n");
		line_read(line);
		reach(line);
	}
}
