/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two 8259A. Priorities are looked at as if the chip were rotated until its
 * highest one is bit 0, where "more urgent" is "smaller".
 */
#include "device/pic.h"

#define CASCADE_LINE 2
#define CASCADE_MASK (1u << CASCADE_LINE)
#define NOTHING 8 /* behind the least urgent input */

/* Inputs that ELCR can make level triggered: not timer, keyboard, cascade, clock, FPU. */
static const u8 level_allowed[2] = { 0xf8, 0xde };

static u8 chip_requests(const struct pic *chip)
{
	u8 level = chip->all_level ? 0xff : chip->level;

	return (u8)((chip->request & ~level) | (chip->lines & level));
}

/* The place in the order of priority, 0..7, of the most urgent bit, or NOTHING. */
static unsigned chip_urgency(const struct pic *chip, unsigned bits)
{
	unsigned first = chip->lowest + 1u;

	for (unsigned place = 0; place < 8; place++)
		if (bits & (1u << ((first + place) & 7)))
			return place;
	return NOTHING;
}

static unsigned chip_line(const struct pic *chip, unsigned place)
{
	return (chip->lowest + 1u + place) & 7;
}

/* The input that the chip would put forward, or -1. */
static int chip_pending(const struct pic *chip, u8 requests)
{
	unsigned place = chip_urgency(chip, requests & ~(unsigned)chip->mask);
	unsigned service = chip->service;

	if (!chip->ready || place == NOTHING)
		return -1;
	if (chip->special_nested)
		service &= ~CASCADE_MASK;
	return place < chip_urgency(chip, service) ? (int)chip_line(chip, place) : -1;
}

static int slave_pending(const struct pic_pair *pair)
{
	return chip_pending(&pair->chip[1], chip_requests(&pair->chip[1]));
}

static bool has_cascade(const struct pic_pair *pair)
{
	return !pair->chip[0].single;
}

static u8 master_requests(const struct pic_pair *pair)
{
	u8 requests = chip_requests(&pair->chip[0]);

	if (has_cascade(pair) && slave_pending(pair) >= 0)
		requests |= CASCADE_MASK;
	return requests;
}

static u8 pair_requests(const struct pic_pair *pair, unsigned number)
{
	return number == 0 ? master_requests(pair) : chip_requests(&pair->chip[1]);
}

static void chip_take(struct pic *chip, unsigned line)
{
	u8 bit = (u8)(1u << line);

	chip->request &= (u8)~bit;
	if (!chip->automatic_eoi)
		chip->service |= bit;
	else if (chip->rotate_on_automatic_eoi)
		chip->lowest = (u8)line;
}

void pic_reset(struct pic_pair *pair)
{
	*pair = (struct pic_pair){ 0 };
	pair->chip[0].lowest = 7;
	pair->chip[1].lowest = 7;
}

void pic_set_line(struct pic_pair *pair, unsigned line, bool level)
{
	struct pic *chip = &pair->chip[line / 8 & 1];
	u8 bit = (u8)(1u << (line & 7));

	if (line == CASCADE_LINE)
		return;
	if (level && !(chip->lines & bit))
		chip->request |= bit;
	if (level)
		chip->lines |= bit;
	else
		chip->lines &= (u8)~bit;
}

int pic_pending(const struct pic_pair *pair)
{
	int line = chip_pending(&pair->chip[0], master_requests(pair));

	if (line == CASCADE_LINE && has_cascade(pair))
		return pair->chip[1].vector_base + slave_pending(pair);
	return line < 0 ? -1 : pair->chip[0].vector_base + line;
}

/* Takes what the chip puts forward into service; input 7 if that is nothing. */
static unsigned chip_acknowledge(struct pic_pair *pair, unsigned number)
{
	struct pic *chip = &pair->chip[number];
	int line = chip_pending(chip, pair_requests(pair, number));

	if (line < 0)
		return 7;
	chip_take(chip, (unsigned)line);
	return (unsigned)line;
}

int pic_acknowledge(struct pic_pair *pair)
{
	unsigned line = chip_acknowledge(pair, 0);

	if (line == CASCADE_LINE && has_cascade(pair))
		return pair->chip[1].vector_base + (int)chip_acknowledge(pair, 1);
	return pair->chip[0].vector_base + (int)line;
}

static void chip_initialise(struct pic *chip, u8 value)
{
	chip->needs_icw4 = value & 0x01;
	chip->single = value & 0x02;
	chip->all_level = value & 0x08;
	chip->request = 0;
	chip->service = 0;
	chip->mask = 0;
	chip->lowest = 7;
	chip->automatic_eoi = false;
	chip->rotate_on_automatic_eoi = false;
	chip->special_nested = false;
	chip->read_service = false;
	chip->poll = false;
	chip->ready = false;
	chip->initialise = 2;
}

/* OCW2: end of interrupt and rotation. Bits 7..5: rotate, specific, EOI. */
static void chip_end(struct pic *chip, u8 value)
{
	bool rotate = value & 0x80;
	bool specific = value & 0x40;
	bool eoi = value & 0x20;
	unsigned line = value & 7;

	if (!specific && !eoi) {
		chip->rotate_on_automatic_eoi = rotate;
		return;
	}
	if (!specific) {
		unsigned place = chip_urgency(chip, chip->service);

		if (place == NOTHING)
			return;
		line = chip_line(chip, place);
	}
	if (eoi)
		chip->service &= (u8)~(1u << line);
	if (rotate)
		chip->lowest = (u8)line;
}

static void chip_write_command(struct pic *chip, u8 value)
{
	if (value & 0x10) {
		chip_initialise(chip, value);
	} else if (value & 0x08) {
		chip->poll = value & 0x04;
		if (value & 0x02)
			chip->read_service = value & 0x01;
	} else {
		chip_end(chip, value);
	}
}

static void chip_write_data(struct pic *chip, u8 value)
{
	switch (chip->initialise) {
	case 2:
		chip->vector_base = value & 0xf8;
		chip->initialise = !chip->single ? 3 : chip->needs_icw4 ? 4 : 0;
		break;
	case 3:
		/* ICW3, how the chips are wired: a PC has it no other way. */
		chip->initialise = chip->needs_icw4 ? 4 : 0;
		break;
	case 4:
		chip->automatic_eoi = value & 0x02;
		chip->special_nested = value & 0x10;
		chip->initialise = 0;
		break;
	default:
		chip->mask = value;
		return;
	}
	chip->ready = chip->initialise == 0;
}

static u8 chip_poll(struct pic_pair *pair, unsigned number)
{
	struct pic *chip = &pair->chip[number];

	chip->poll = false;
	if (chip_pending(chip, pair_requests(pair, number)) < 0)
		return 0;
	return (u8)(0x80 | chip_acknowledge(pair, number));
}

u8 pic_read(struct pic_pair *pair, u16 port)
{
	unsigned number = port >> 7 & 1;

	switch (port) {
	case 0x20:
	case 0xa0:
		if (pair->chip[number].poll)
			return chip_poll(pair, number);
		if (pair->chip[number].read_service)
			return pair->chip[number].service;
		return pair_requests(pair, number);
	case 0x21:
	case 0xa1:
		return pair->chip[number].mask;
	case 0x4d0:
	case 0x4d1:
		return pair->chip[port & 1].level;
	default:
		return 0xff;
	}
}

void pic_write(struct pic_pair *pair, u16 port, u8 value)
{
	struct pic *chip = &pair->chip[port >> 7 & 1];

	switch (port) {
	case 0x20:
	case 0xa0:
		chip_write_command(chip, value);
		break;
	case 0x21:
	case 0xa1:
		chip_write_data(chip, value);
		break;
	case 0x4d0:
	case 0x4d1:
		pair->chip[port & 1].level = value & level_allowed[port & 1];
		break;
	}
}
