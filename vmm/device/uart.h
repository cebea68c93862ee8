/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual 16550A of one guest. It knows no baud rate: a byte has left as
 * soon as the VMM takes it, and the guest waits as long as the VMM does not. No
 * byte is received without room for it, so there is no line error. The modem lines
 * say that the other end is connected and ready, and never change; in loopback
 * they follow the modem control register, and bytes go nowhere.
 */
#pragma once

#include "lib/types.h"

#define UART_FIFO_SIZE 16

struct uart_fifo {
	u8 bytes[UART_FIFO_SIZE];
	u8 first, count;
};

struct uart {
	u8 registers[8];     /* as written; the FIFO control register is number 2 */
	u8 divisor[2];
	bool transmit_event; /* THR became empty; until IIR is read or THR written */
	struct uart_fifo receive, transmit;
};

void uart_reset(struct uart *uart);

/* Register 0..7, the offset from the first port. */
u8 uart_read(struct uart *uart, unsigned offset);
void uart_write(struct uart *uart, unsigned offset, u8 value);

/* The level of the interrupt line (with the PC's gate, OUT2). */
bool uart_interrupt(const struct uart *uart);

/* Whether uart_receive() would keep a byte. */
bool uart_can_receive(const struct uart *uart);

/* A byte from the outside. Without room it is lost. */
void uart_receive(struct uart *uart, u8 byte);

/* The next byte for the outside, or -1; it stays. */
int uart_output(const struct uart *uart);

/* Takes the byte that uart_output() returns, and returns it, or -1. */
int uart_transmit(struct uart *uart);
