/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the virtual pair of 8259A. Inputs with lower numbers are more urgent, so the lowest bit that
 * is set in a register is the one that counts.
 */
#include "device/pic.h"

enum { CASCADE_LINE = 2, SPURIOUS_LINE = 7 };
/* Bits of command words. */
enum { ICW1 = 0x10, ICW4_AUTOMATIC_EOI = 0x02 };
enum { OCW2_EOI = 0x20, OCW2_SPECIFIC = 0x40 };
enum { OCW3 = 0x08, OCW3_READ = 0x02, OCW3_READ_SERVICE = 0x01 };

/* Returns the input that a chip would put forward, or -1. */
static int chip_pending(const struct pic *chip, unsigned requests)
{
	unsigned service = chip->service;
	unsigned more_urgent = (service & -service) - 1;
	unsigned pending = requests & more_urgent & (u8)~chip->mask;

	return chip->expected != 0 ? -1 : __builtin_ffs((int)pending) - 1;
}

/* Returns the requests to a chip. The second chip requests at line 2 of the first one. */
static unsigned chip_requests(const struct pic_pair *pair, unsigned number)
{
	const struct pic *second = &pair->chip[1];
	bool cascade = number == 0 && chip_pending(second, second->request) >= 0;

	return pair->chip[number].request | (unsigned)cascade << CASCADE_LINE;
}

void pic_reset(struct pic_pair *pair)
{
	*pair = (struct pic_pair){ .chip = { { .expected = 1 }, { .expected = 1 } } };
}

void pic_set_line(struct pic_pair *pair, unsigned line, bool level)
{
	struct pic *chip = &pair->chip[line / 8 & 1];
	u8 bit = (u8)(1u << (line & 7));

	if (line == CASCADE_LINE)
		return;
	if (!level) {
		chip->lines &= (u8)~bit;
		return;
	}
	chip->request |= bit & (u8)~chip->lines;
	chip->lines |= bit;
}

int pic_pending(const struct pic_pair *pair)
{
	const struct pic *chip = pair->chip;
	int line = chip_pending(chip, chip_requests(pair, 0));

	if (line == CASCADE_LINE) {
		chip++;
		line = chip_pending(chip, chip_requests(pair, 1));
	}
	return line < 0 ? -1 : chip->vector_base + line;
}

/* Takes the input that a chip puts forward into service, and returns it. */
static int chip_acknowledge(struct pic_pair *pair, unsigned number)
{
	struct pic *chip = &pair->chip[number];
	int line = chip_pending(chip, chip_requests(pair, number));

	if (line < 0)
		return SPURIOUS_LINE;
	chip->request &= (u8)~(1u << line);
	if (!chip->automatic_eoi)
		chip->service |= (u8)(1u << line);
	return line;
}

int pic_acknowledge(struct pic_pair *pair)
{
	int line = chip_acknowledge(pair, 0);

	if (line == CASCADE_LINE)
		return pair->chip[1].vector_base + chip_acknowledge(pair, 1);
	return pair->chip[0].vector_base + line;
}

static void chip_write_command(struct pic *chip, u8 value)
{
	if (value & ICW1) {
		*chip = (struct pic){ .lines = chip->lines, .expected = 2 };
	} else if (value & OCW3) {
		if (value & OCW3_READ)
			chip->read_service = value & OCW3_READ_SERVICE;
	} else if (value & OCW2_EOI) {
		if (value & OCW2_SPECIFIC)
			chip->service &= (u8)~(1u << (value & 7));
		else
			chip->service &= (u8)(chip->service - 1);
	}
}

/* Takes initialisation words 2 to 4, or the mask. A PC always gives all four words. The third one
 * tells the wiring, which is the same in every PC, so it is ignored. */
static void chip_write_data(struct pic *chip, u8 value)
{
	static const u8 next[] = { 0, 1, 3, 4, 0 };

	if (chip->expected == 2)
		chip->vector_base = value & 0xf8;
	else if (chip->expected == 4)
		chip->automatic_eoi = value & ICW4_AUTOMATIC_EOI;
	else if (chip->expected != 3)
		chip->mask = value;
	chip->expected = next[chip->expected];
}

/* Returns the chip that a port belongs to, or -1. */
static int port_chip(u16 port)
{
	return (port & ~0x81) == 0x20 ? port >> 7 : -1;
}

u8 pic_read(const struct pic_pair *pair, u16 port)
{
	int number = port_chip(port);

	if (number < 0)
		return 0xff;
	if (port & 1)
		return pair->chip[number].mask;
	return pair->chip[number].read_service ? pair->chip[number].service
					       : (u8)chip_requests(pair, (unsigned)number);
}

void pic_write(struct pic_pair *pair, u16 port, u8 value)
{
	int number = port_chip(port);

	if (number < 0)
		return;
	if (port & 1)
		chip_write_data(&pair->chip[number], value);
	else
		chip_write_command(&pair->chip[number], value);
}
