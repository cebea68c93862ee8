/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers of a 16550A (National Semiconductor PC16550D), as far as a
 * driver can tell them from the real ones without a stop watch. Received bytes
 * below the trigger level count as "character timeout" at once.
 */
#include "device/uart.h"

#define IER_RECEIVE 0x01
#define IER_TRANSMIT 0x02
#define IER_LINE 0x04
#define IER_MODEM 0x08
#define IER_ALL 0x0f

#define IIR_NONE 0x01
#define IIR_MODEM 0x00
#define IIR_TRANSMIT 0x02
#define IIR_RECEIVE 0x04
#define IIR_LINE 0x06
#define IIR_TIMEOUT 0x0c
#define IIR_FIFOS 0xc0

#define FCR_ENABLE 0x01
#define FCR_CLEAR_RECEIVE 0x02
#define FCR_CLEAR_TRANSMIT 0x04
#define FCR_KEPT 0xc9

#define LCR_DIVISOR 0x80

#define MCR_OUT2 0x08
#define MCR_LOOP 0x10
#define MCR_ALL 0x1f

#define LSR_DATA 0x01
#define LSR_OVERRUN 0x02
#define LSR_TRANSMIT_EMPTY 0x60 /* holding and shift register */

#define MSR_CHANGES 0x0f
#define MSR_RING_ENDED 0x04
#define MSR_RING 0x40
#define MSR_CONNECTED 0xb0 /* DCD, DSR, CTS */

static void fifo_clear(struct uart_fifo *fifo)
{
	fifo->first = 0;
	fifo->count = 0;
}

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

/* Without FIFOs each direction holds one byte. */
static unsigned uart_capacity(const struct uart *uart)
{
	return uart->fifo_control & FCR_ENABLE ? UART_FIFO_SIZE : 1;
}

static unsigned uart_trigger(const struct uart *uart)
{
	static const u8 levels[4] = { 1, 4, 8, 14 };

	return uart->fifo_control & FCR_ENABLE ? levels[uart->fifo_control >> 6] : 1;
}

static void uart_store(struct uart *uart, u8 byte)
{
	if (uart->receive.count < uart_capacity(uart))
		fifo_push(&uart->receive, byte);
	else
		uart->overrun = true;
}

void uart_reset(struct uart *uart)
{
	*uart = (struct uart){ .modem_status = MSR_CONNECTED, .transmit_event = true };
}

/* The interrupt with the highest priority, IIR_NONE without any. */
static u8 uart_cause(const struct uart *uart)
{
	u8 enabled = uart->interrupt_enable;

	if (enabled & IER_LINE && uart->overrun)
		return IIR_LINE;
	if (enabled & IER_RECEIVE && uart->receive.count > 0)
		return uart->receive.count >= uart_trigger(uart) ? IIR_RECEIVE : IIR_TIMEOUT;
	if (enabled & IER_TRANSMIT && uart->transmit_event)
		return IIR_TRANSMIT;
	if (enabled & IER_MODEM && uart->modem_status & MSR_CHANGES)
		return IIR_MODEM;
	return IIR_NONE;
}

bool uart_interrupt(const struct uart *uart)
{
	return (uart->modem_control & (MCR_OUT2 | MCR_LOOP)) == MCR_OUT2 &&
	       uart_cause(uart) != IIR_NONE;
}

static u8 uart_read_cause(struct uart *uart)
{
	u8 cause = uart_cause(uart);

	if (cause == IIR_TRANSMIT)
		uart->transmit_event = false;
	return cause | (uart->fifo_control & FCR_ENABLE ? IIR_FIFOS : 0);
}

static u8 uart_read_line_status(struct uart *uart)
{
	u8 status = 0;

	if (uart->receive.count > 0)
		status |= LSR_DATA;
	if (uart->overrun)
		status |= LSR_OVERRUN;
	if (uart->transmit.count == 0)
		status |= LSR_TRANSMIT_EMPTY;
	uart->overrun = false;
	return status;
}

static u8 uart_read_modem_status(struct uart *uart)
{
	u8 status = uart->modem_status;

	uart->modem_status &= (u8)~MSR_CHANGES;
	return status;
}

u8 uart_read(struct uart *uart, unsigned offset)
{
	if (uart->line_control & LCR_DIVISOR && offset < 2)
		return uart->divisor[offset];
	switch (offset) {
	case 0:
		return uart->receive.count > 0 ? fifo_pop(&uart->receive) : 0;
	case 1:
		return uart->interrupt_enable;
	case 2:
		return uart_read_cause(uart);
	case 3:
		return uart->line_control;
	case 4:
		return uart->modem_control;
	case 5:
		return uart_read_line_status(uart);
	case 6:
		return uart_read_modem_status(uart);
	case 7:
		return uart->scratch;
	default:
		return 0xff;
	}
}

static void uart_write_byte(struct uart *uart, u8 byte)
{
	uart->transmit_event = false;
	if (uart->modem_control & MCR_LOOP) {
		uart_store(uart, byte);
		uart->transmit_event = true;
	} else if (uart->transmit.count < uart_capacity(uart)) {
		fifo_push(&uart->transmit, byte);
	}
}

/* Enabling the interrupt while the register is empty raises it (again). */
static void uart_write_interrupt_enable(struct uart *uart, u8 value)
{
	if (value & ~uart->interrupt_enable & IER_TRANSMIT && uart->transmit.count == 0)
		uart->transmit_event = true;
	uart->interrupt_enable = value & IER_ALL;
}

static void uart_write_fifo_control(struct uart *uart, u8 value)
{
	/* Switching the FIFOs on or off empties them. */
	if ((value ^ uart->fifo_control) & FCR_ENABLE)
		value |= FCR_CLEAR_RECEIVE | FCR_CLEAR_TRANSMIT;
	if (value & FCR_CLEAR_RECEIVE)
		fifo_clear(&uart->receive);
	if (value & FCR_CLEAR_TRANSMIT) {
		fifo_clear(&uart->transmit);
		uart->transmit_event = true;
	}
	uart->fifo_control = value & FCR_ENABLE ? value & FCR_KEPT : 0;
}

/* In loopback RTS, DTR, OUT1, OUT2 come back as CTS, DSR, RI, DCD. */
static u8 modem_lines(u8 control)
{
	if (!(control & MCR_LOOP))
		return MSR_CONNECTED;
	return (u8)((control & 0x02) << 3 | (control & 0x01) << 5 | (control & 0x0c) << 4);
}

static void uart_write_modem_control(struct uart *uart, u8 value)
{
	u8 lines = modem_lines(value & MCR_ALL);
	u8 changed = (u8)((uart->modem_status ^ lines) >> 4);

	/* The ring indicator counts when it ends. */
	if (lines & MSR_RING)
		changed &= (u8)~MSR_RING_ENDED;
	uart->modem_status = (u8)(lines | (uart->modem_status & MSR_CHANGES) | changed);
	uart->modem_control = value & MCR_ALL;
}

void uart_write(struct uart *uart, unsigned offset, u8 value)
{
	if (uart->line_control & LCR_DIVISOR && offset < 2) {
		uart->divisor[offset] = value;
		return;
	}
	switch (offset) {
	case 0:
		uart_write_byte(uart, value);
		break;
	case 1:
		uart_write_interrupt_enable(uart, value);
		break;
	case 2:
		uart_write_fifo_control(uart, value);
		break;
	case 3:
		uart->line_control = value;
		break;
	case 4:
		uart_write_modem_control(uart, value);
		break;
	case 7:
		uart->scratch = value;
		break;
	}
}

bool uart_can_receive(const struct uart *uart)
{
	return !(uart->modem_control & MCR_LOOP) && uart->receive.count < uart_capacity(uart);
}

void uart_receive(struct uart *uart, u8 byte)
{
	if (!(uart->modem_control & MCR_LOOP))
		uart_store(uart, byte);
}

bool uart_has_output(const struct uart *uart)
{
	return uart->transmit.count > 0;
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
