/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: drives the second serial port (COM2, IRQ 3) by interrupts. Each byte that has left
 * interrupts, and the handler gives the next one. It tells how many interrupts there were,
 * cumulative:
 *
 *	interrupts=N
 */
#include "guest.h"
#include "print.h"

#define PORT 0x2f8
#define VECTOR (GANDALF_VECTOR_IRQ + 3)
#define PER_LINE 100
/* Registers of a 16550A and their bits: National Semiconductor PC16550D data sheet. */
enum { DATA = 0, INTERRUPT_ENABLE = 1, CAUSE = 2, LINE_CONTROL = 3, MODEM_CONTROL = 4 };
#define TRANSMIT_EMPTY 0x02  /* of INTERRUPT_ENABLE */
#define DIVISOR 0x80         /* of LINE_CONTROL: the first two registers are the divisor's */
#define EIGHT_BITS 0x03      /* of LINE_CONTROL */
#define OUT2 0x08            /* of MODEM_CONTROL: lets the interrupt out of the chip */
#define BAUD_9600 12         /* 115,200 divided by this */

static void out(uint16_t offset, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"((uint16_t)(PORT + offset)));
}

static uint8_t in(uint16_t offset)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"((uint16_t)(PORT + offset)));
	return value;
}

/* Reading the cause takes the request back, and so does writing a byte, until it has left. */
static void sent(struct handler_frame *frame)
{
	(void)frame;
	in(CAUSE);
	out(DATA, 'x');
}

static void port_begin(void)
{
	out(INTERRUPT_ENABLE, 0);
	out(LINE_CONTROL, DIVISOR | EIGHT_BITS);
	out(DATA, BAUD_9600);
	out(INTERRUPT_ENABLE, 0);
	out(LINE_CONTROL, EIGHT_BITS);
	out(MODEM_CONTROL, OUT2);
	out(INTERRUPT_ENABLE, TRANSMIT_EMPTY);
}

void main(void)
{
	uint32_t line = PER_LINE;

	interrupt_hook[VECTOR] = sent;
	handlers_install();
	port_begin();
	for (;;) {
		if (interrupt_count[VECTOR] < line) {
			interrupt_wait();
			continue;
		}
		print("interrupts=%u\n", line);
		line += PER_LINE;
	}
}
