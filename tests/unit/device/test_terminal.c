/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal that the screen shows: what is on the screen behind what was written. */
#include "unit.h"

#include <string.h>

#include "device/terminal.h"

#define PLAIN 0x07

static struct terminal terminal;
static u16 screen[TERMINAL_LINES * TERMINAL_COLUMNS];

static int setup(void **state)
{
	(void)state;
	memset(screen, 0xff, sizeof(screen));
	terminal_init(&terminal);
	return 0;
}

static void write(const char *text)
{
	for (; *text != '\0'; text++)
		terminal_write(&terminal, (u8)*text);
}

static void draw(void)
{
	for (u32 i = 0; i < TERMINAL_LINES; i++)
		terminal_draw(&terminal, screen);
	assert_false(terminal_is_stale(&terminal));
}

/* Draws, and compares a line without the spaces at its end. */
static void assert_line(u32 line, const char *expected)
{
	char text[TERMINAL_COLUMNS + 1] = "";
	u32 length = TERMINAL_COLUMNS;

	draw();
	for (u32 i = 0; i < TERMINAL_COLUMNS; i++)
		text[i] = (char)screen[line * TERMINAL_COLUMNS + i];
	while (length > 0 && text[length - 1] == ' ')
		text[--length] = '\0';
	assert_string_equal(text, expected);
}

static void assert_cursor(u32 line, u32 column)
{
	assert_int_equal(terminal.line, line);
	assert_int_equal(terminal.column, column);
}

static u8 colours_at(u32 line, u32 column)
{
	draw();
	return (u8)(screen[line * TERMINAL_COLUMNS + column] >> 8);
}

static void an_empty_screen_is_drawn_as_a_whole(void **state)
{
	(void)state;
	draw();
	for (u32 i = 0; i < TERMINAL_LINES * TERMINAL_COLUMNS; i++)
		assert_int_equal(screen[i], PLAIN << 8 | ' ');
}

static void text_and_its_control_characters(void **state)
{
	(void)state;
	write("one\r\ntwo\rT\n\b\bx\ta\a\x7f");
	assert_line(0, "one");
	assert_line(1, "Two");
	assert_line(2, "x       a");
	assert_cursor(2, 9);
	write("\r\b");
	assert_cursor(2, 0);
	write("\x1b[80G\t\t");
	assert_cursor(2, 79);
}

/* A line of 80 characters ends behind the 80th only when another one follows. */
static void long_lines_go_on_below(void **state)
{
	(void)state;
	for (u32 i = 0; i < TERMINAL_COLUMNS; i++)
		write("a");
	assert_cursor(0, TERMINAL_COLUMNS);
	write("\r\nb");
	assert_line(1, "b");
	write("\x1b[H\x1b[79Cxy");
	assert_line(1, "y");
	assert_cursor(1, 1);
}

static void the_screen_scrolls(void **state)
{
	char text[8];

	(void)state;
	for (u32 i = 0; i < 3 * TERMINAL_LINES; i++) {
		sprintf(text, "\r\n%u", i);
		write(text);
	}
	for (u32 i = 0; i < TERMINAL_LINES; i++) {
		sprintf(text, "%u", i + 2 * TERMINAL_LINES);
		assert_line(i, text);
	}
	write("\r\n");
	assert_line(TERMINAL_LINES - 1, "");
	assert_line(0, "51");
}

static void the_cursor_moves_within_the_screen(void **state)
{
	static const struct {
		const char *keys;
		u32 line, column;
	} moves[] = {
		{ "\x1b[5;7H", 4, 6 }, { "\x1b[A", 3, 6 },     { "\x1b[2B", 5, 6 },
		{ "\x1b[C", 5, 7 },    { "\x1b[3D", 5, 4 },    { "\x1b[10G", 5, 9 },
		{ "\x1b[2d", 1, 9 },   { "\x1b[9A", 0, 9 },    { "\x1b[99D", 0, 0 },
		{ "\x1b[999B", 24, 0 }, { "\x1b[999C", 24, 79 }, { "\x1b[;5f", 0, 4 },
		{ "\x1b[7H", 6, 0 },   { "\x1b[0;0H", 0, 0 },  { "\x1b[99999999999;2H", 24, 1 },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
		write(moves[i].keys);
		assert_cursor(moves[i].line, moves[i].column);
	}
}

static void parts_of_a_line_are_erased(void **state)
{
	(void)state;
	write("abcdef\x1b[3D\x1b[K");
	assert_line(0, "abc");
	write("\rabcdef\x1b[3D\x1b[1K");
	assert_line(0, "    ef");
	write("\x1b[2K");
	assert_line(0, "");
	write("x");
	assert_line(0, "   x");
	write("\x1b[1;1H\x1b[2;1Hab\x1b[30G\x1b[1Kz");
	assert_line(1, "                             z");
}

static void parts_of_the_screen_are_erased(void **state)
{
	(void)state;
	write("one\r\ntwo\r\nthree\x1b[2;2H\x1b[J");
	assert_line(0, "one");
	assert_line(1, "t");
	assert_line(2, "");
	write("wo\r\nthree\x1b[2;2H\x1b[1J");
	assert_line(0, "");
	assert_line(1, "  o");
	assert_line(2, "three");
	write("\x1b[2J");
	assert_line(1, "");
	assert_line(2, "");
	assert_cursor(1, 1);
}

static void text_has_colours(void **state)
{
	static const struct {
		const char *before;
		u8 colours;
	} cases[] = {
		{ "", PLAIN },           { "\x1b[31m", 0x04 },      { "\x1b[1m", 0x0c },
		{ "\x1b[44m", 0x1c },    { "\x1b[22m", 0x14 },      { "\x1b[7m", 0x41 },
		{ "\x1b[27m", 0x14 },    { "\x1b[39m", 0x17 },      { "\x1b[49m", 0x07 },
		{ "\x1b[1;33;42m", 0x2e }, { "\x1b[m", PLAIN },     { "\x1b[1;7;32m", 0x28 },
		{ "\x1b[0m", PLAIN },    { "\x1b[?31m", PLAIN },    { "\x1b[1;1;1;1;31m", PLAIN },
		{ "\x1b[58m", PLAIN },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		write("\r");
		write(cases[i].before);
		write("x");
		assert_int_equal(colours_at(0, 0), cases[i].colours);
	}
	/* What is erased has none. */
	write("\x1b[41m\x1b[2K");
	assert_int_equal(colours_at(0, 0), PLAIN);
}

static void unicode_is_shown_as_far_as_the_screen_has_it(void **state)
{
	(void)state;
	write("\xc3\xa4\xc3\x9f\xc2\xb5\xe2\x82\xac\xf0\x9f\x98\x80.");
	assert_line(0, "\x84\xe1\xe6??.");
	/* Bytes that belong to no character, and characters that are cut off. */
	write("\r\n\xa4\xbf" "a\xc3" "b\xe2\x82" "c\xc3\xc3\xa4");
	assert_line(1, "abc\x84");
}

static void other_sequences_do_nothing(void **state)
{
	(void)state;
	write("a\x1b]7473;size\a\x1bP1;2x\x1b\\\x1b(0\x1b[?25l\x1b[6n\x1b[3 qb");
	write("\x1b[5\x18" "c\x1b" "d");
	write("\x1b[1;2;3;4;5Ae\x1b[\xc3" "f");
	assert_line(0, "abce");
	assert_line(1, "");
	write("\x1b[1\nz");
	assert_line(1, "    z");
}

/* While all lines change again and again, each is drawn. */
static void each_line_has_its_turn(void **state)
{
	bool seen[TERMINAL_LINES] = { false };

	(void)state;
	draw();
	for (u32 i = 0; i < TERMINAL_LINES; i++) {
		write("\x1b[25;1H\nx");
		memset(screen, 0, sizeof(screen));
		terminal_draw(&terminal, screen);
		for (u32 line = 0; line < TERMINAL_LINES; line++)
			seen[line] |= screen[line * TERMINAL_COLUMNS] != 0;
	}
	for (u32 line = 0; line < TERMINAL_LINES; line++)
		assert_true(seen[line]);
}

static void a_line_that_has_not_changed_is_not_drawn(void **state)
{
	(void)state;
	draw();
	memset(screen, 0, sizeof(screen));
	write("\x1b[3;1Hx");
	draw();
	for (u32 i = 0; i < TERMINAL_LINES * TERMINAL_COLUMNS; i++)
		assert_int_equal(screen[i] != 0, i / TERMINAL_COLUMNS == 2);
	terminal_draw(&terminal, NULL);
}

#define TEST(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_screen_is_drawn_as_a_whole),
		TEST(text_and_its_control_characters),
		TEST(long_lines_go_on_below),
		TEST(the_screen_scrolls),
		TEST(the_cursor_moves_within_the_screen),
		TEST(parts_of_a_line_are_erased),
		TEST(parts_of_the_screen_are_erased),
		TEST(text_has_colours),
		TEST(unicode_is_shown_as_far_as_the_screen_has_it),
		TEST(other_sequences_do_nothing),
		TEST(each_line_has_its_turn),
		TEST(a_line_that_has_not_changed_is_not_drawn),
	};

	return RUN_TESTS(tests);
}
