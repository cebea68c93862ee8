/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the registers of a virtual 16550A. A driver cannot tell them from real ones unless it
 * measures time: received bytes below the trigger level, for instance, cause a "character timeout"
 * at once.
 */
#include "device/uart.h"

#include "lib/ns16550.h"

/* The bits that a register keeps of what is written to it. */
static const u8 register_bits[UART_REGISTERS] = {
	[UART_INTERRUPT_ENABLE] = 0x0f, [UART_FIFO_CONTROL] = 0xc9, [UART_LINE_CONTROL] = 0xff,
	[UART_MODEM_CONTROL] = 0x1f, [UART_SCRATCH] = 0xff,
};

enum { IIR_NONE = 0x01, IIR_TRANSMIT = 0x02, IIR_RECEIVE = 0x04, IIR_TIMEOUT = 0x0c };
enum { FCR_ENABLE = 0x01, FCR_CLEAR_RECEIVE = 0x02, FCR_CLEAR_TRANSMIT = 0x04 };
enum { MCR_OUT2 = 0x08, MCR_LOOP = 0x10 };
enum { LSR_DATA = 0x01, LSR_TRANSMIT_EMPTY = 0x60 /* holding and shift register */ };
#define MSR_CONNECTED 0xb0 /* DCD, DSR, CTS */

static void fifo_push(struct uart_fifo *fifo, u8 byte)
{
	fifo->bytes[(fifo->first + fifo->count++) % UART_FIFO_SIZE] = byte;
}

static u8 fifo_pop(struct uart_fifo *fifo)
{
	u8 byte = fifo->bytes[fifo->first];

	fifo->first = (u8)((fifo->first + 1) % UART_FIFO_SIZE);
	fifo->count--;
	return byte;
}

static bool has_fifos(const struct uart *uart)
{
	return uart->registers[UART_FIFO_CONTROL] & FCR_ENABLE;
}

/* Returns whether a direction has room for a byte. Without FIFOs each holds one byte. */
static bool has_room(const struct uart *uart, const struct uart_fifo *fifo)
{
	return !(uart->registers[UART_MODEM_CONTROL] & MCR_LOOP) &&
	       fifo->count < (has_fifos(uart) ? UART_FIFO_SIZE : 1);
}

void uart_reset(struct uart *uart)
{
	*uart = (struct uart){ .transmit_event = true };
}

/* Returns the cause of interrupts with the highest priority, or IIR_NONE. */
static u8 uart_cause(const struct uart *uart)
{
	static const u8 triggers[4] = { 1, 4, 8, 14 };
	u8 enabled = uart->registers[UART_INTERRUPT_ENABLE];
	u8 trigger = triggers[uart->registers[UART_FIFO_CONTROL] >> 6];

	if (enabled & IER_RECEIVE && uart->receive.count > 0)
		return uart->receive.count >= trigger ? IIR_RECEIVE : IIR_TIMEOUT;
	if (enabled & IER_TRANSMIT && uart->transmit_event)
		return IIR_TRANSMIT;
	return IIR_NONE;
}

bool uart_interrupt(const struct uart *uart)
{
	u8 control = uart->registers[UART_MODEM_CONTROL] & (MCR_OUT2 | MCR_LOOP);

	return control == MCR_OUT2 && uart_cause(uart) != IIR_NONE;
}

static u8 uart_read_cause(struct uart *uart)
{
	u8 cause = uart_cause(uart);

	if (cause == IIR_TRANSMIT)
		uart->transmit_event = false;
	return cause | (has_fifos(uart) ? IIR_FIFOS : 0);
}

/* Returns the modem lines. In loopback RTS, DTR, OUT1 and OUT2 come back as CTS, DSR, RI and
 * DCD. */
static u8 uart_modem_status(const struct uart *uart)
{
	u8 control = uart->registers[UART_MODEM_CONTROL];

	if (!(control & MCR_LOOP))
		return MSR_CONNECTED;
	return (u8)((control & 0x02) << 3 | (control & 0x01) << 5 | (control & 0x0c) << 4);
}

u8 uart_read(struct uart *uart, unsigned offset)
{
	if (uart->registers[UART_LINE_CONTROL] & LCR_DIVISOR && offset < 2)
		return uart->divisor[offset];
	switch (offset) {
	case UART_DATA:
		return uart->receive.count > 0 ? fifo_pop(&uart->receive) : 0;
	case UART_FIFO_CONTROL:
		return uart_read_cause(uart);
	case UART_LINE_STATUS:
		return (u8)((uart->receive.count > 0 ? LSR_DATA : 0) |
			    (uart->transmit.count == 0 ? LSR_TRANSMIT_EMPTY : 0));
	case UART_MODEM_STATUS:
		return uart_modem_status(uart);
	default:
		return uart->registers[offset];
	}
}

static void uart_write_fifo_control(struct uart *uart, u8 value)
{
	/* Switching the FIFOs on or off empties them. */
	if ((value ^ uart->registers[UART_FIFO_CONTROL]) & FCR_ENABLE)
		value |= FCR_CLEAR_RECEIVE | FCR_CLEAR_TRANSMIT;
	if (value & FCR_CLEAR_RECEIVE)
		uart->receive.count = 0;
	if (value & FCR_CLEAR_TRANSMIT) {
		uart->transmit.count = 0;
		uart->transmit_event = true;
	}
}

void uart_write(struct uart *uart, unsigned offset, u8 value)
{
	if (uart->registers[UART_LINE_CONTROL] & LCR_DIVISOR && offset < 2) {
		uart->divisor[offset] = value;
		return;
	}
	switch (offset) {
	case UART_DATA:
		if (has_room(uart, &uart->transmit))
			fifo_push(&uart->transmit, value);
		uart->transmit_event = uart->transmit.count == 0;
		break;
	case UART_INTERRUPT_ENABLE:
		/* To enable the transmit interrupt while nothing is to be sent raises it, also
		 * if it was raised before. */
		if (value & ~uart->registers[offset] & IER_TRANSMIT && uart->transmit.count == 0)
			uart->transmit_event = true;
		break;
	case UART_FIFO_CONTROL:
		uart_write_fifo_control(uart, value);
		value = value & FCR_ENABLE ? value : 0;
		break;
	}
	uart->registers[offset] = value & register_bits[offset];
}

bool uart_can_receive(const struct uart *uart)
{
	return has_room(uart, &uart->receive);
}

void uart_receive(struct uart *uart, u8 byte)
{
	if (uart_can_receive(uart))
		fifo_push(&uart->receive, byte);
}

int uart_output(const struct uart *uart)
{
	return uart->transmit.count > 0 ? uart->transmit.bytes[uart->transmit.first] : -1;
}

int uart_transmit(struct uart *uart)
{
	u8 byte;

	if (uart->transmit.count == 0)
		return -1;
	byte = fifo_pop(&uart->transmit);
	if (uart->transmit.count == 0)
		uart->transmit_event = true;
	return byte;
}
