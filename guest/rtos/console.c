/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Console output of an RTOS guest: print() ends here. All of the text arrives,
 * however often the VMM's buffer is full on the way.
 */
#include "print.h"
#include "rtos.h"

/* Long enough for a byte to leave a 115,200 baud line, short enough not to
 * notice; a guest with a scheduler sleeps instead. */
void console_spin(void)
{
	for (unsigned int i = 0; i < 10000; i++)
		__asm__ volatile("pause");
}

void (*console_wait)(void) = console_spin;

static void console_send(const char *text, size_t length)
{
	while (length) {
		size_t chunk = length < GANDALF_CONSOLE_CHUNK ? length : GANDALF_CONSOLE_CHUNK;
		int32_t taken = hypercall(GANDALF_HYPERCALL_CONSOLE_WRITE, (uint32_t)text, chunk);

		if (taken > 0) {
			text += taken;
			length -= (size_t)taken;
		} else if (length) {
			console_wait();
		}
	}
}

/* The focused console's bytes reach the terminal as they are, and a terminal
 * in raw mode wants a carriage return in front of each line feed. */
void console_write(const char *text, size_t length)
{
	size_t start = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] != '\n')
			continue;
		console_send(text + start, i - start);
		console_send("\r\n", 2);
		start = i + 1;
	}
	console_send(text + start, length - start);
}
