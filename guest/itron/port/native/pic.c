/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pair of 8259 interrupt controllers of a PC.
 */
#include "interrupt.h"
#include "io.h"
#include "machine.h"
#include "port.h"

/* Command and data ports of the two. */
#define MASTER 0x20
#define SLAVE 0xa0
#define DATA(chip) ((UH)((chip) + 1))

#define ICW1_INIT 0x11 /* edges, a pair, ICW4 follows */
#define ICW4_8086 0x01
#define CASCADE 2 /* the master's line with the slave */
#define OCW2_END 0x20
#define OCW3_IN_SERVICE 0x0b /* the next read gives what is in service */
#define SPURIOUS 7 /* the line that a controller names when it has none */
#define LINES 8

static void chip_init(UH chip, UINT vector, UB cascade)
{
	io_write(chip, ICW1_INIT);
	io_write(DATA(chip), (UB)vector);
	io_write(DATA(chip), cascade);
	io_write(DATA(chip), ICW4_8086);
	io_write(DATA(chip), 0xff);
}

void pic_init(void)
{
	chip_init(MASTER, TMIN_INHNO, 1 << CASCADE);
	chip_init(SLAVE, TMIN_INHNO + LINES, CASCADE);
	pic_unmask(CASCADE);
}

void pic_unmask(UINT line)
{
	UH port = DATA(line < LINES ? MASTER : SLAVE);

	io_write(port, (UB)(io_read(port) & ~(1 << line % LINES)));
}

static bool pic_in_service(UH chip)
{
	io_write(chip, OCW3_IN_SERVICE);
	return io_read(chip) & 1 << SPURIOUS;
}

bool port_interrupt_accept(UINT vector)
{
	UINT line = vector - TMIN_INHNO;
	bool spurious;

	if (vector == INHNO_TIMER)
		line = LINE_TIMER;
	else if (vector == INHNO_CONSOLE)
		line = LINE_CONSOLE;
	spurious = line % LINES == SPURIOUS && !pic_in_service(line < LINES ? MASTER : SLAVE);
	/* Before the handler runs: nothing comes in until it has returned. The master has been in
	 * service for a spurious interrupt of the slave. */
	if (line >= LINES && !spurious)
		io_write(SLAVE, OCW2_END);
	if (line >= LINES || !spurious)
		io_write(MASTER, OCW2_END);
	return !spurious && interrupt_handlers[vector];
}
