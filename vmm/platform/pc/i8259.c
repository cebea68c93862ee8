/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives the machine's pair of 8259A, which belongs to the VMM on a shared CPU. Each interrupt is
 * ended as soon as it is known, so that no guest can hold back another's.
 */
#include "platform/pc/i8259.h"

#include "arch/ia32/cpu.h"
#include "arch/ia32/layout.h"
#include "lib/owner.h"

enum { MASTER = 0x20, SLAVE = 0xa0 };
/* The chip set's edge/level control registers. */
#define EDGE_LEVEL 0x4d0
/* Command words of the 8259A. */
enum { ICW1_INIT_ICW4 = 0x11, ICW4_8086 = 0x01, OCW2_EOI = 0x20 };
enum { OCW3_READ_REQUEST = 0x0a, OCW3_READ_SERVICE = 0x0b };
#define CASCADE 2

OF_CORE_INITIALISED static u16 mask = 0xffff & ~(1u << CASCADE);

static void mask_write(void)
{
	outb(MASTER + 1, (u8)mask);
	outb(SLAVE + 1, (u8)(mask >> 8));
}

static void vectors_write(u8 master, u8 slave)
{
	outb(MASTER, ICW1_INIT_ICW4);
	outb(SLAVE, ICW1_INIT_ICW4);
	outb(MASTER + 1, master);
	outb(SLAVE + 1, slave);
	outb(MASTER + 1, 1u << CASCADE);
	outb(SLAVE + 1, CASCADE);
	outb(MASTER + 1, ICW4_8086);
	outb(SLAVE + 1, ICW4_8086);
}

void i8259_init(void)
{
	vectors_write(VECTOR_PIC, VECTOR_PIC + 8);
	mask_write();
}

void i8259_release(void)
{
	vectors_write(0x08, 0x70);
	outb(MASTER + 1, 0xff);
	outb(SLAVE + 1, 0xff);
}

void i8259_enable(unsigned irq)
{
	u16 edge_level = (u16)(EDGE_LEVEL + irq / 8);

	outb(edge_level, (u8)(inb(edge_level) & ~(1u << irq % 8)));
	mask &= (u16)~(1u << irq);
	mask_write();
}

void i8259_disable(unsigned irq)
{
	mask |= (u16)(1u << irq);
	mask_write();
}

/* Reads which inputs are in service. Afterwards reads give the requests again, as a guest that has
 * the controllers expects. */
static u8 in_service(u16 port)
{
	u8 service;

	outb(port, OCW3_READ_SERVICE);
	service = inb(port);
	outb(port, OCW3_READ_REQUEST);
	return service;
}

int i8259_in_service(void)
{
	int irq = __builtin_ffs(in_service(MASTER)) - 1;

	/* If nothing of the slave is in service, this is its spurious interrupt, input 7. */
	return irq == CASCADE ? 8 + __builtin_ctz(in_service(SLAVE) | 0x80u) : irq;
}

bool i8259_acknowledge(unsigned irq)
{
	if (irq == 7 && (in_service(MASTER) & 0x80) == 0)
		return false;
	if (irq == 15 && (in_service(SLAVE) & 0x80) == 0) {
		outb(MASTER, OCW2_EOI);
		return false;
	}
	if (irq >= 8)
		outb(SLAVE, OCW2_EOI);
	outb(MASTER, OCW2_EOI);
	return true;
}
