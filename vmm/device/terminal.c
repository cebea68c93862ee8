/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the terminal that the screen shows. A line that is erased or scrolled in has no length, and
 * its cells are written when it gets text or is drawn. So no byte writes more than a line of cells.
 */
#include "device/terminal.h"

#include "device/escape.h"
#include "lib/string.h"

enum { COLUMNS = TERMINAL_COLUMNS, LINES = TERMINAL_LINES, TAB = 8 };
#define ALL_LINES ((1u << LINES) - 1)
#define COLOURS 0x07u /* light grey on black */
#define BLANK ((u16)(COLOURS << 8 | ' '))
#define VALUE_MAXIMUM 999u

/* Code page 437's characters for Unicode's from 0xa0 to 0xff. */
static const u8 latin[] =
	"\xff\xad\x9b\x9c?\x9d|\x15\"c\xa6\xae\xaa-R_"
	"\xf8\xf1\xfd" "3'\xe6\x14\xfa,1\xa7\xaf\xac\xab?\xa8"
	"AAAA\x8e\x8f\x92\x80" "E\x90" "EEIIII"
	"D\xa5OOOO\x99xOUUU\x9aYT\xe1"
	"\x85\xa0\x83" "a\x84\x86\x91\x87\x8a\x82\x88\x89\x8d\xa1\x8c\x8b"
	"d\xa4\x95\xa2\x93o\x94\xf6o\x97\xa3\x96\x81yt\x98";
_Static_assert(sizeof(latin) == 0x60 + 1, "one for each");

static u32 place_of(const struct terminal *terminal, u32 line)
{
	return (terminal->top + line) % LINES;
}

/* Has a line's cells up to a column be there. */
static void line_extend(struct terminal *terminal, u32 place, u32 column)
{
	u32 length = terminal->lengths[place];

	if (length >= column)
		return;
	memset_words(&terminal->cells[place][length], BLANK, column - length);
	terminal->lengths[place] = (u8)column;
}

static void lines_erase(struct terminal *terminal, u32 first, u32 end)
{
	for (; first < end; first++) {
		terminal->lengths[place_of(terminal, first)] = 0;
		terminal->changed |= 1u << first;
	}
}

void terminal_init(struct terminal *terminal)
{
	memset(terminal, 0, sizeof(*terminal));
	terminal->colours = COLOURS;
	terminal->changed = ALL_LINES;
}

static void line_feed(struct terminal *terminal)
{
	if (terminal->line + 1 < LINES) {
		terminal->line++;
		return;
	}
	terminal->top = place_of(terminal, 1);
	lines_erase(terminal, LINES - 1, LINES);
	terminal->changed = ALL_LINES;
}

static void put(struct terminal *terminal, u8 character)
{
	u8 colours = terminal->colours;
	u32 place;

	if (terminal->column == COLUMNS) {
		terminal->column = 0;
		line_feed(terminal);
	}
	if (terminal->reverse)
		colours = (u8)(colours << 4 | colours >> 4);
	place = place_of(terminal, terminal->line);
	line_extend(terminal, place, terminal->column + 1);
	terminal->cells[place][terminal->column++] =
		(u16)((colours | terminal->bold) << 8 | character);
	terminal->changed |= 1u << terminal->line;
}

/* Takes a byte of a character that is not ASCII. A byte that is not expected begins one, or is left
 * out. */
static void put_unicode(struct terminal *terminal, u8 byte)
{
	if (byte >= 0xc0) {
		terminal->rest = 1u + (byte >= 0xe0) + (byte >= 0xf0);
		terminal->character = byte & (0x3fu >> terminal->rest);
		return;
	}
	if (terminal->rest == 0)
		return;
	terminal->character = terminal->character << 6 | (byte & 0x3fu);
	if (--terminal->rest == 0)
		put(terminal, terminal->character - 0xa0 < 0x60 ? latin[terminal->character - 0xa0]
								: '?');
}

static void control(struct terminal *terminal, u8 byte)
{
	if (byte == '\r') {
		terminal->column = 0;
	} else if (byte == '\n') {
		line_feed(terminal);
	} else if (byte == '\b') {
		terminal->column -= terminal->column != 0;
	} else if (byte == '\t') {
		terminal->column = minimum((terminal->column | (TAB - 1)) + 1, COLUMNS - 1);
	}
}

/* Erases a part of the cursor's line: from the cursor on, up to it, or all of it. */
static void line_erase(struct terminal *terminal, u32 which)
{
	u32 place = place_of(terminal, terminal->line);
	u32 column = minimum(terminal->column, COLUMNS - 1);
	u8 *length = &terminal->lengths[place];

	if (which == 0) {
		*length = (u8)minimum(*length, terminal->column);
	} else if (which == 1) {
		line_extend(terminal, place, column + 1);
		memset_words(terminal->cells[place], BLANK, column + 1);
	} else {
		*length = 0;
	}
	terminal->changed |= 1u << terminal->line;
}

/* Erases the same of the screen. */
static void screen_erase(struct terminal *terminal, u32 which)
{
	line_erase(terminal, which);
	if (which != 1)
		lines_erase(terminal, terminal->line + 1, LINES);
	if (which != 0)
		lines_erase(terminal, 0, terminal->line);
}

/* The VGA has red and blue the other way round. */
static u8 colour_of(u32 value)
{
	return (u8)((value & 2) | value >> 2 | (value & 1) << 2);
}

static void colour(struct terminal *terminal, u32 value)
{
	u8 *colours = &terminal->colours;

	if (value == 0) {
		*colours = COLOURS;
		terminal->bold = terminal->reverse = 0;
	} else if (value == 1 || value == 22) {
		terminal->bold = value == 1 ? 8 : 0;
	} else if (value == 7 || value == 27) {
		terminal->reverse = value == 7;
	} else if (value - 30 < 8) {
		*colours = (u8)((*colours & 0x70) | colour_of(value - 30));
	} else if (value - 40 < 8) {
		*colours = (u8)((*colours & 0x07) | colour_of(value - 40) << 4);
	} else if (value == 39) {
		*colours = (u8)((*colours & 0x70) | (COLOURS & 0x07));
	} else if (value == 49) {
		*colours &= 0x07;
	}
}

/* Moves the cursor within the screen. Numbers that are left out stand for 1. */
static void move(struct terminal *terminal, u8 final)
{
	u32 first = terminal->values[0] + (terminal->values[0] == 0);
	u32 second = terminal->values[1] + (terminal->values[1] == 0);
	u32 column = minimum(terminal->column, COLUMNS - 1);

	if (final == 'A')
		terminal->line -= minimum(first, terminal->line);
	else if (final == 'B')
		terminal->line += first;
	else if (final == 'C')
		column += first;
	else if (final == 'D')
		column -= minimum(first, column);
	else if (final == 'G')
		column = first - 1;
	else
		terminal->line = first - 1;
	if (final == 'H' || final == 'f')
		column = second - 1;
	terminal->line = minimum(terminal->line, LINES - 1);
	terminal->column = minimum(column, COLUMNS - 1);
}

static void control_end(struct terminal *terminal, u8 final)
{
	u32 first = terminal->values[0];

	if ((final >= 'A' && final <= 'D') || final == 'G' || final == 'H' || final == 'd' ||
	    final == 'f')
		move(terminal, final);
	else if (final == 'J')
		screen_erase(terminal, first);
	else if (final == 'K')
		line_erase(terminal, first);
	else if (final == 'm')
		for (u32 i = 0; i <= terminal->value; i++)
			colour(terminal, terminal->values[i]);
}

/* Takes a byte between ESC [ and the end. A sequence with a byte that has no meaning here, or with
 * too many numbers, does nothing. */
static void control_byte(struct terminal *terminal, u8 byte)
{
	u32 *value = &terminal->values[terminal->value];

	if (terminal->value == TERMINAL_VALUES)
		return;
	if (byte == ';' && terminal->value + 1 < TERMINAL_VALUES)
		terminal->value++;
	else if (byte >= '0' && byte <= '9')
		*value = minimum(*value * 10 + byte - '0', VALUE_MAXIMUM);
	else if (byte >= 0x40 && byte < DELETE)
		control_end(terminal, byte);
	else
		terminal->value = TERMINAL_VALUES;
}

void terminal_write(struct terminal *terminal, u8 byte)
{
	u8 state = terminal->escape;

	if (state == ESCAPE_NONE && byte >= ' ' && byte < DELETE) {
		terminal->rest = 0;
		put(terminal, byte);
		return;
	}
	terminal->escape = escape_next(state, byte);
	if (state == ESCAPE_START && terminal->escape == ESCAPE_CONTROL) {
		memset(terminal->values, 0, sizeof(terminal->values));
		terminal->value = 0;
	} else if (state == ESCAPE_CONTROL && byte >= ' ') {
		control_byte(terminal, byte);
	} else if (byte < ' ') {
		control(terminal, byte);
	} else if (state == ESCAPE_NONE && byte > DELETE) {
		put_unicode(terminal, byte);
	}
}

/* Looks for the line behind the one that was drawn last, so that each has its turn while text
 * scrolls. */
void terminal_draw(struct terminal *terminal, u16 *screen)
{
	u32 below = terminal->changed & ~((2u << terminal->drawn) - 1);
	u32 line, place;

	if (terminal->changed == 0)
		return;
	line = (u32)__builtin_ctz(below != 0 ? below : terminal->changed);
	place = place_of(terminal, line);
	line_extend(terminal, place, COLUMNS);
	memcpy(screen + line * COLUMNS, terminal->cells[place], COLUMNS * sizeof(*screen));
	terminal->changed &= ~(1u << line);
	terminal->drawn = line;
}
