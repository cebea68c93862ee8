/* SPDX-License-Identifier: Apache-2.0 */
/* The real UART (National PC16550D data sheet). */
#include "hardware/serial.h"

#include "ia32/cpu.h"

#define DATA 0
#define INTERRUPT_ENABLE 1
#define FIFO_CONTROL 2
#define LINE_CONTROL 3
#define MODEM_CONTROL 4
#define LINE_STATUS 5
#define SCRATCH 7

#define IER_RECEIVE 0x01
#define IER_TRANSMIT 0x02
#define IIR_FIFO_WORKS 0xc0
#define FCR_ENABLE_CLEAR 0x07
#define LCR_8N1 0x03
#define LCR_DIVISOR 0x80
#define MCR_DTR_RTS_OUT2 0x0b
#define LSR_RECEIVED 0x01
#define LSR_ROOM 0x20
#define LSR_IDLE 0x40
#define BASE_BAUD 115200u
#define FIFO_SIZE 16

static u16 base;
static unsigned fifo;
static u8 interrupt_enable;
static bool masked;

bool serial_init(u16 port, u32 baud)
{
	u16 divisor = (u16)(BASE_BAUD / baud);

	outb(port + SCRATCH, 0x5a);
	if (inb(port + SCRATCH) != 0x5a)
		return false;
	base = port;
	outb(port + INTERRUPT_ENABLE, 0);
	outb(port + LINE_CONTROL, LCR_8N1 | LCR_DIVISOR);
	outb(port + DATA, (u8)divisor);
	outb(port + INTERRUPT_ENABLE, (u8)(divisor >> 8));
	outb(port + LINE_CONTROL, LCR_8N1);
	outb(port + FIFO_CONTROL, FCR_ENABLE_CLEAR);
	outb(port + MODEM_CONTROL, MCR_DTR_RTS_OUT2);
	fifo = (inb(port + FIFO_CONTROL) & IIR_FIFO_WORKS) == IIR_FIFO_WORKS ? FIFO_SIZE : 1;
	return true;
}

void serial_enable_interrupts(void)
{
	interrupt_enable |= IER_RECEIVE;
	outb(base + INTERRUPT_ENABLE, interrupt_enable);
}

unsigned serial_room(void)
{
	return inb(base + LINE_STATUS) & LSR_ROOM ? fifo : 0;
}

void serial_write(u8 byte)
{
	outb(base + DATA, byte);
}

void serial_expect_room(bool wanted)
{
	u8 value = (u8)(wanted ? interrupt_enable | IER_TRANSMIT : interrupt_enable & ~IER_TRANSMIT);

	if (value == interrupt_enable)
		return;
	interrupt_enable = value;
	if (!masked)
		outb(base + INTERRUPT_ENABLE, value);
}

int serial_read(void)
{
	return inb(base + LINE_STATUS) & LSR_RECEIVED ? inb(base + DATA) : -1;
}

void serial_mask_interrupts(void)
{
	masked = true;
	outb(base + INTERRUPT_ENABLE, 0);
}

void serial_interrupt_again(bool transmit)
{
	masked = !transmit;
	outb(base + INTERRUPT_ENABLE, 0);
	outb(base + INTERRUPT_ENABLE,
	     transmit ? interrupt_enable : interrupt_enable & (u8)~IER_TRANSMIT);
}

bool serial_idle(void)
{
	return (inb(base + LINE_STATUS) & LSR_IDLE) != 0;
}
