/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COM1, a 16550: the console. Output is polled, and goes on while the line is slow only as fast
 * as that; input stays in the UART's FIFO until it is read.
 */
#include "board.h"
#include "io.h"
#include "kernel.h"
#include "machine.h"
#include "print.h"

#define COM1 0x3f8
#define UART_DATA (COM1 + 0)
#define UART_DIVISOR_LOW (COM1 + 0)
#define UART_INTERRUPTS (COM1 + 1)
#define UART_DIVISOR_HIGH (COM1 + 1)
#define UART_FIFO (COM1 + 2)
#define UART_LINE_CONTROL (COM1 + 3)
#define UART_MODEM_CONTROL (COM1 + 4)
#define UART_LINE_STATUS (COM1 + 5)

#define INTERRUPT_RECEIVED 0x01
#define FIFO_ENABLE_CLEAR 0x07
#define LINE_8N1 0x03
#define LINE_DIVISOR 0x80
#define MODEM_READY_INTERRUPTS 0x0b /* DTR, RTS, and OUT2, which lets interrupts out */
#define STATUS_RECEIVED 0x01
#define STATUS_SENT 0x20
#define DIVISOR_115200 1
#define FIFO_BYTES 16

void (*board_console_wait)(void);

void uart_init(void)
{
	io_write(UART_LINE_CONTROL, LINE_DIVISOR);
	io_write(UART_DIVISOR_LOW, DIVISOR_115200);
	io_write(UART_DIVISOR_HIGH, 0);
	io_write(UART_LINE_CONTROL, LINE_8N1);
	io_write(UART_FIFO, FIFO_ENABLE_CLEAR);
	io_write(UART_MODEM_CONTROL, MODEM_READY_INTERRUPTS);
	io_write(UART_INTERRUPTS, 0);
}

void uart_input_enable(void)
{
	io_write(UART_INTERRUPTS, INTERRUPT_RECEIVED);
}

static void uart_put(char c)
{
	static UB room; /* bytes that fit into the FIFO for sure */

	while (!room) {
		if (io_read(UART_LINE_STATUS) & STATUS_SENT)
			room = FIFO_BYTES;
		else if (board_console_wait && !sns_dpn())
			board_console_wait();
	}
	room--;
	io_write(UART_DATA, (UB)c);
}

void console_write(const char *text, size_t length)
{
	for (; length; text++, length--) {
		if (*text == '\n')
			uart_put('\r');
		uart_put(*text);
	}
}

size_t board_console_read(char *to, size_t size)
{
	size_t length = 0;

	while (length < size && io_read(UART_LINE_STATUS) & STATUS_RECEIVED)
		to[length++] = (char)io_read(UART_DATA);
	return length;
}
