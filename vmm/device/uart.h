/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 16550A of one guest (National Semiconductor PC16550D data sheet). It has no baud
 * rate: a byte has left as soon as the VMM takes it, and the guest waits until then. Bytes are
 * received only if there is room for them, so there are no line errors. The modem lines always say
 * that the other end is connected and ready. In loopback they follow the modem control register,
 * and bytes go nowhere.
 */
#pragma once

#include "lib/types.h"

#define UART_FIFO_SIZE 16

struct uart_fifo {
	u8 bytes[UART_FIFO_SIZE];
	u8 first, count;
};

struct uart {
	u8 registers[8];     /* as written; number 2 is the FIFO control register */
	u8 divisor[2];       /* as written; nothing depends on it */
	bool transmit_event; /* all is sent, and the guest has neither read IIR nor written since */
	struct uart_fifo receive, transmit;
};

void uart_reset(struct uart *uart);

/* Read and write a register. offset is that from the first port, 0 to 7. */
u8 uart_read(struct uart *uart, unsigned offset);
void uart_write(struct uart *uart, unsigned offset, u8 value);

/* Returns the level of the interrupt line, which OUT2 gates in a PC. */
bool uart_interrupt(const struct uart *uart);

/* Returns whether uart_receive() would keep a byte. */
bool uart_can_receive(const struct uart *uart);

/* Receives a byte from the outside. It is lost if there is no room. */
void uart_receive(struct uart *uart, u8 byte);

/* Returns the next byte for the outside, or -1, and leaves it there. */
int uart_output(const struct uart *uart);

/* Takes that byte and returns it, or -1. */
int uart_transmit(struct uart *uart);
