/* SPDX-License-Identifier: Apache-2.0 */
/* Drives the machine's UART (National Semiconductor PC16550D data sheet). */
#include "platform/pc/serial.h"

#include "arch/ia32/cpu.h"
#include "lib/ns16550.h"
#include "lib/owner.h"

enum { FCR_ENABLE_CLEAR = 0x07, LCR_8N1 = 0x03, MCR_DTR_RTS_OUT2 = 0x0b };
enum { LSR_RECEIVED = 0x01, LSR_ROOM = 0x20, LSR_IDLE = 0x40 };
#define BASE_BAUD 115200u
#define FIFO_SIZE 16

/* Of the core that has the UART, which sets it up again when a guest has had it. */
OF_CORE static u16 base;
OF_CORE static unsigned fifo;
OF_CORE static u8 interrupt_enable;
OF_CORE static bool masked;

bool serial_init(u16 port, u32 baud)
{
	u16 divisor = (u16)(BASE_BAUD / baud);

	outb(port + UART_SCRATCH, 0x5a);
	if (inb(port + UART_SCRATCH) != 0x5a)
		return false;
	base = port;
	outb(port + UART_INTERRUPT_ENABLE, 0);
	outb(port + UART_LINE_CONTROL, LCR_8N1 | LCR_DIVISOR);
	outb(port + UART_DATA, (u8)divisor);
	outb(port + UART_INTERRUPT_ENABLE, (u8)(divisor >> 8));
	outb(port + UART_LINE_CONTROL, LCR_8N1);
	outb(port + UART_FIFO_CONTROL, FCR_ENABLE_CLEAR);
	outb(port + UART_MODEM_CONTROL, MCR_DTR_RTS_OUT2);
	fifo = (inb(port + UART_FIFO_CONTROL) & IIR_FIFOS) == IIR_FIFOS ? FIFO_SIZE : 1;
	return true;
}

void serial_enable_interrupts(void)
{
	interrupt_enable |= IER_RECEIVE;
	outb(base + UART_INTERRUPT_ENABLE, interrupt_enable);
}

unsigned serial_room(void)
{
	return inb(base + UART_LINE_STATUS) & LSR_ROOM ? fifo : 0;
}

void serial_write(u8 byte)
{
	outb(base + UART_DATA, byte);
}

void serial_expect_room(bool wanted)
{
	u8 value = (u8)(wanted ? interrupt_enable | IER_TRANSMIT
			       : interrupt_enable & ~IER_TRANSMIT);

	if (value == interrupt_enable)
		return;
	interrupt_enable = value;
	if (!masked)
		outb(base + UART_INTERRUPT_ENABLE, value);
}

int serial_read(void)
{
	return inb(base + UART_LINE_STATUS) & LSR_RECEIVED ? inb(base + UART_DATA) : -1;
}

void serial_mask_interrupts(void)
{
	masked = true;
	outb(base + UART_INTERRUPT_ENABLE, 0);
}

void serial_interrupt_again(bool transmit)
{
	masked = !transmit;
	outb(base + UART_INTERRUPT_ENABLE, 0);
	outb(base + UART_INTERRUPT_ENABLE,
	     transmit ? interrupt_enable : interrupt_enable & (u8)~IER_TRANSMIT);
}

bool serial_idle(void)
{
	return (inb(base + UART_LINE_STATUS) & LSR_IDLE) != 0;
}
