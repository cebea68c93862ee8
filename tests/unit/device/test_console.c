/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console multiplexer: what exactly goes to the terminal, and, with a small
 * terminal of the test's own, that nothing is ever lost or mixed.
 */
#include "unit.h"

#include <string.h>

#include "device/console_buffer.h"

#define CLEAR "\r\x1b[K"
#define BREAK "\x18\r\n" /* a line end that is none of a console's */

static struct console_mux mux;
static struct console *linux_console, *rtos, *log_console;
static char output[100000];

static int setup(void **state)
{
	(void)state;
	console_mux_init(&mux);
	linux_console = console_add(&mux, "linux");
	rtos = console_add(&mux, "rtos");
	log_console = console_add(&mux, "vmm");
	return 0;
}

static void put(struct console *console, const char *text)
{
	for (; *text != '\0'; text++)
		if (console == log_console)
			console_put_dropping(&mux, console, *text);
		else
			assert_true(console_put(console, *text));
}

/* All that comes out now. */
static const char *drain(void)
{
	size_t length = 0;
	unsigned waits = 0;

	while (length < sizeof(output) - 1 && console_has_output(&mux)) {
		int byte = console_output(&mux);

		/* Not yet, but some time. */
		waits = byte < 0 ? waits + 1 : 0;
		assert_true(waits <= CONSOLE_OUTPUT_SIZE);
		if (byte >= 0)
			output[length++] = (char)byte;
	}
	if (length < sizeof(output) - 1)
		assert_int_equal(console_output(&mux), -1);
	output[length] = '\0';
	return output;
}

static void type(const char *text)
{
	for (; *text != '\0'; text++)
		console_input(&mux, (u8)*text);
}

static void expect_typed(struct console *console, const char *text)
{
	for (; *text != '\0'; text++) {
		assert_true(console_has_input(console));
		assert_int_equal(console_get(console), *text);
	}
	assert_false(console_has_input(console));
	assert_int_equal(console_get(console), -1);
}

static void the_focused_console_is_raw(void **state)
{
	(void)state;
	assert_string_equal(drain(), "");
	put(linux_console, "a\x1b[1mb\r\n\tc\x07");
	assert_string_equal(drain(), "a\x1b[1mb\r\n\tc\x07");
}

static void other_lines_come_whole_and_named(void **state)
{
	(void)state;
	put(rtos, "tick");
	assert_string_equal(drain(), "");
	put(rtos, " 1\r\ntick 2");
	assert_string_equal(drain(), "[rtos] tick 1\r\n");
	put(rtos, "\n");
	assert_string_equal(drain(), "[rtos] tick 2\r\n");
	put(rtos, "\n");
	assert_string_equal(drain(), "[rtos] \r\n");
}

static void the_unfinished_line_is_drawn_again(void **state)
{
	(void)state;
	put(linux_console, "~ # ls");
	assert_string_equal(drain(), "~ # ls");
	put(rtos, "tick\n");
	put(log_console, "tack\n");
	assert_string_equal(drain(), CLEAR "[rtos] tick\r\n~ # ls" CLEAR "[vmm] tack\r\n~ # ls");
	put(linux_console, "\b\b  \r\n");
	assert_string_equal(drain(), "\b\b  \r\n");
	put(rtos, "tick\n");
	assert_string_equal(drain(), "[rtos] tick\r\n");
}

static void the_focused_console_finishes_its_line_first(void **state)
{
	(void)state;
	put(linux_console, "one");
	drain();
	put(linux_console, " and two\nthree\nfour");
	put(rtos, "a\nb\n");
	assert_string_equal(drain(), " and two\n[rtos] a\r\nthree\n[rtos] b\r\nfour");
}

static void consoles_take_turns(void **state)
{
	(void)state;
	put(rtos, "1\n2\n3\n");
	put(log_console, "a\nb\n");
	assert_string_equal(drain(), "[rtos] 1\r\n[vmm] a\r\n[rtos] 2\r\n[vmm] b\r\n[rtos] 3\r\n");
}

static void an_endless_line_does_not_hold_up_the_others(void **state)
{
	char text[CONSOLE_LINE_SIZE * 3 + 1];
	const char *found;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(linux_console, text);
	put(rtos, "tick\n");
	drain();
	found = strstr(output, "[rtos] tick\r\n");
	assert_non_null(found);
	assert_in_range(found - output, 0, CONSOLE_LINE_SIZE + 10);
}

static void a_line_too_long_to_draw_again_goes_on_below(void **state)
{
	char text[CONSOLE_LINE_SIZE + 11];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(linux_console, text);
	assert_string_equal(drain(), text);
	put(rtos, "tick\n");
	assert_string_equal(drain(), BREAK "[rtos] tick\r\n");
	put(linux_console, "y");
	assert_string_equal(drain(), "y");
	put(rtos, "tick\n");
	assert_string_equal(drain(), CLEAR "[rtos] tick\r\ny");
}

static void a_line_that_others_wrote_is_left_alone(void **state)
{
	(void)state;
	console_set_focus(&mux, linux_console);
	while (console_has_output(&mux))
		console_output(&mux);
	console_forget_line(&mux);
	assert_string_equal(drain(), "");
	put(rtos, "tick\ntack\n");
	assert_string_equal(drain(), BREAK "[rtos] tick\r\n[rtos] tack\r\n");
}

static void long_lines_of_others_are_broken(void **state)
{
	char text[CONSOLE_LINE_SIZE + 1];
	char expected[CONSOLE_LINE_SIZE * 2 + 100];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(rtos, text);
	put(rtos, "yz\n");
	snprintf(expected, sizeof(expected), "[rtos] %s" BREAK "[rtos] yz\r\n", text);
	assert_string_equal(drain(), expected);
	/* Just as long, and its end comes later. */
	put(rtos, text);
	snprintf(expected, sizeof(expected), "[rtos] %s" BREAK, text);
	assert_string_equal(drain(), expected);
	put(rtos, "\r\n");
	assert_string_equal(drain(), "[rtos] \r\n");
	put(rtos, "next\n");
	assert_string_equal(drain(), "[rtos] next\r\n");
	put(rtos, text);
	put(rtos, "\r\nnext\n");
	snprintf(expected, sizeof(expected), "[rtos] %s\r\n[rtos] next\r\n", text);
	assert_string_equal(drain(), expected);
}

static void characters_are_not_cut(void **state)
{
	char text[CONSOLE_LINE_SIZE];
	char expected[CONSOLE_LINE_SIZE + 100];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(rtos, text);
	put(rtos, "\xe2\x82\xac!\n");
	snprintf(expected, sizeof(expected), "[rtos] %s\xe2\x82\xac" BREAK "[rtos] !\r\n", text);
	assert_string_equal(drain(), expected);
}

static void others_cannot_move_the_cursor(void **state)
{
	(void)state;
	put(rtos, "a\x1b[2Jb\x1b[1;31mc\x1b]0;title\x07"
		  "d\x1b(B\x1b]2;x\x1b\\e\bf\x07g\rh\x7fi\tj\n");
	assert_string_equal(drain(), "[rtos] abcdefghi\tj\r\n");
	/* An unfinished sequence ends with its line. */
	put(rtos, "k\x1b[12\nl\n");
	assert_string_equal(drain(), "[rtos] k\r\n[rtos] l\r\n");
}

static void a_sequence_is_taken_up_again(void **state)
{
	(void)state;
	put(linux_console, "ab\x1b[3");
	drain();
	put(rtos, "tick\n");
	assert_string_equal(drain(), "\x18" CLEAR "[rtos] tick\r\nab\x1b[3");
	put(linux_console, "1mc");
	assert_string_equal(drain(), "1mc");
	put(rtos, "tick\n");
	assert_string_equal(drain(), CLEAR "[rtos] tick\r\nab\x1b[31mc");
}

static void requests_are_not_sent_twice(void **state)
{
	static const char *const once[] = { "\x1b[6n", "\x1b[c", "\x1bZ", "\x1b]0;t\x07",
					    "\x1b]0;t\x1b\\", "\x1b" "c", "\x07" };

	for (size_t i = 0; i < ARRAY_SIZE(once); i++) {
		setup(state);
		put(linux_console, "a");
		put(linux_console, once[i]);
		put(linux_console, "b");
		drain();
		put(rtos, "x\n");
		assert_string_equal(drain(), CLEAR "[rtos] x\r\nab");
	}
}

static void the_focus_moves_the_keyboard(void **state)
{
	(void)state;
	assert_ptr_equal(mux.focus, linux_console);
	type("ls\n");
	expect_typed(linux_console, "ls\n");
	type("\x01nhelp\x01nstatus\x01nback");
	expect_typed(rtos, "help");
	expect_typed(log_console, "status");
	expect_typed(linux_console, "back");
	assert_ptr_equal(mux.focus, linux_console);
}

static void a_change_of_focus_is_announced(void **state)
{
	(void)state;
	put(linux_console, "~ # ");
	drain();
	put(rtos, "> ");
	type("\x01n");
	assert_string_equal(drain(), BREAK "[console rtos has the keyboard]\r\n> ");
	/* What the other one had shown is not shown again, its rest is. */
	put(linux_console, "\nfile\n");
	assert_string_equal(drain(), CLEAR "[linux] \r\n> " CLEAR "[linux] file\r\n> ");
	put(linux_console, "~ # ");
	console_set_focus(&mux, linux_console);
	assert_string_equal(drain(), BREAK "[console linux has the keyboard]\r\n~ # ");
	type("\x01n\x01n\x01n");
	assert_string_equal(drain(), BREAK "[console linux has the keyboard]\r\n~ # ");
}

static void coming_back_shows_the_unfinished_line(void **state)
{
	(void)state;
	put(linux_console, "~ # ");
	drain();
	console_set_focus(&mux, rtos);
	assert_string_equal(drain(), BREAK "[console rtos has the keyboard]\r\n");
	console_set_focus(&mux, linux_console);
	assert_string_equal(drain(), "[console linux has the keyboard]\r\n~ # ");
	put(linux_console, "ls\n");
	assert_string_equal(drain(), "ls\n");
}

static void a_line_is_finished_before_the_focus_changes(void **state)
{
	(void)state;
	put(rtos, "tick\n");
	for (unsigned i = 0; i < 9; i++)
		console_output(&mux);
	type("\x01n");
	assert_string_equal(drain(), "ck\r\n[console rtos has the keyboard]\r\n");
}

static void keys(void **state)
{
	(void)state;
	type("\x01" "a");
	expect_typed(linux_console, "\x01");
	type("\x01x");
	expect_typed(linux_console, "");
	assert_string_equal(drain(), "");
	put(linux_console, "~ # ");
	drain();
	type("\x01h");
	assert_string_equal(drain(), CLEAR
			    "[Ctrl-A n: next console, Ctrl-A a: Ctrl-A itself, Ctrl-A x: leave, "
			    "Ctrl-A h: this]\r\n[consoles: linux (keyboard) rtos vmm]\r\n~ # ");
	type("\x01?");
	assert_non_null(strstr(drain(), "Ctrl-A n: next console"));
	expect_typed(linux_console, "");
}

static void help_fits_with_all_names(void **state)
{
	(void)state;
	console_mux_init(&mux);
	for (unsigned i = 0; i < CONSOLES_MAXIMUM; i++) {
		char name[] = "fifteen letters";

		name[14] = (char)('a' + i);
		assert_non_null(console_add(&mux, name));
	}
	assert_null(console_add(&mux, "one more"));
	type("\x01h");
	assert_non_null(strstr(drain(), " fifteen letterj]\r\n"));
	/* Little is put together at once, since interrupts wait meanwhile. */
	type("\x01h");
	while (console_has_output(&mux)) {
		console_output(&mux);
		assert_true(mux.insert_count <= 64);
	}
}

static void typing_beyond_the_room_is_lost(void **state)
{
	(void)state;
	for (unsigned i = 0; i <= CONSOLE_INPUT_SIZE; i++)
		type("x");
	/* The command key still works. */
	type("\x01n");
	assert_ptr_equal(mux.focus, rtos);
	for (unsigned i = 0; i < CONSOLE_INPUT_SIZE; i++)
		assert_int_equal(console_get(linux_console), 'x');
	expect_typed(linux_console, "");
}

static void a_full_buffer_refuses(void **state)
{
	unsigned count = 0;

	(void)state;
	while (console_put(linux_console, 'x'))
		count++;
	assert_int_equal(count, CONSOLE_OUTPUT_SIZE);
	assert_int_equal(console_room(linux_console), 0);
	assert_int_equal(console_output(&mux), 'x');
	assert_int_equal(console_room(linux_console), 1);
	assert_true(console_put(linux_console, 'y'));
	assert_false(console_put(linux_console, 'z'));
	assert_int_equal(strlen(drain()), CONSOLE_OUTPUT_SIZE);
}

static void fill_log(const char *line, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		put(log_console, line);
}

static void the_log_drops_its_oldest_lines(void **state)
{
	(void)state;
	fill_log("0123456789abcde\n", CONSOLE_OUTPUT_SIZE / 16);
	put(log_console, "the last line\n");
	drain();
	assert_memory_equal(output, "[vmm] (16 characters lost)\r\n[vmm] 0123456789abcde\r\n", 49);
	assert_non_null(strstr(output, "\r\n[vmm] the last line\r\n"));
	assert_null(strstr(output + 28, "lost"));
}

static void the_log_drops_with_the_focus_too(void **state)
{
	(void)state;
	console_set_focus(&mux, log_console);
	drain();
	put(log_console, "> ");
	drain();
	fill_log("0123456789abcde\n", CONSOLE_OUTPUT_SIZE / 16);
	put(log_console, "!\n");
	drain();
	assert_memory_equal(output, BREAK "[vmm] (16 characters lost)\r\n0123456789", 41);
	assert_non_null(strstr(output, "\n!\n"));
}

static void a_line_is_whole_although_dropped_meanwhile(void **state)
{
	(void)state;
	fill_log("0123456789abcde\n", CONSOLE_OUTPUT_SIZE / 16);
	for (unsigned i = 0; i < 10; i++)
		console_output(&mux);
	fill_log("xxxxxxxxxxxxxxx\n", 2);
	drain();
	assert_memory_equal(output, "456789abcde\r\n[vmm] (16 characters lost)\r\n[vmm] 0", 48);
}

static void a_log_without_lines_drops_characters(void **state)
{
	(void)state;
	fill_log("0123456789abcdef", CONSOLE_OUTPUT_SIZE / 16 + 1);
	drain();
	assert_memory_equal(output, "[vmm] (16 characters lost)\r\n[vmm] 0123456789abcdef", 50);
}

static void a_stopped_guest_ends_its_line(void **state)
{
	(void)state;
	put(rtos, "half");
	console_finish_line(rtos);
	assert_string_equal(drain(), "[rtos] half\r\n");
	console_finish_line(rtos);
	assert_string_equal(drain(), "");
	put(linux_console, "half");
	drain();
	console_finish_line(linux_console);
	assert_string_equal(drain(), "\r\n");
	console_finish_line(linux_console);
	assert_string_equal(drain(), "");
}

/* Without room for its end the line is ended later, and before what the guest writes next. */
static void a_full_console_ends_its_line_and_loses_nothing(void **state)
{
	(void)state;
	while (console_put(rtos, 'x'))
		continue;
	console_finish_line(rtos);
	assert_int_equal(console_room(rtos), 0);
	assert_false(console_put(rtos, 'y'));
	while (!console_put(rtos, 'y')) {
		assert_int_equal(console_room(rtos), 0);
		assert_true(console_output(&mux) != 'y');
	}
	put(rtos, "\n");
	drain();
	assert_null(strstr(output, "lost"));
	assert_string_equal(output + strlen(output) - 13, "x\r\n[rtos] y\r\n");
	put(rtos, "abc");
	console_finish_line(rtos);
	assert_string_equal(drain(), "[rtos] abc\r\n");
}

/* Room is what console_put() takes, whoever has the screen. */
static void a_full_console_with_the_screen_says_what_it_takes(void **state)
{
	(void)state;
	while (console_put(linux_console, 'x'))
		continue;
	console_finish_line(linux_console);
	while (console_room(linux_console) == 0) {
		assert_false(console_put(linux_console, 'y'));
		assert_int_equal(console_output(&mux), 'x');
	}
	assert_true(console_put(linux_console, 'y'));
}

/* A call looks at few characters, whatever is among them: nothing can be shown of these, so it
 * takes many calls. */
static void what_cannot_be_shown_is_taken_in_steps(void **state)
{
	unsigned calls = 0;

	(void)state;
	for (unsigned i = 0; i < 400; i++)
		put(rtos, "\x01");
	put(rtos, "x\n");
	while (console_output(&mux) != 'x') {
		assert_true(console_has_output(&mux));
		calls++;
	}
	assert_in_range(calls, 400 / 8, 400);
}

/* Each character that is written drops a few of a line that is long. */
static void a_long_line_is_dropped_in_steps(void **state)
{
	u32 before;

	(void)state;
	for (unsigned i = 0; i < CONSOLE_OUTPUT_SIZE - 1; i++)
		put(log_console, "x");
	put(log_console, "\n");
	before = log_console->output_count;
	put(log_console, "y");
	assert_in_range(before - log_console->output_count, 1, 16);
	put(log_console, "\n");
	drain();
	assert_string_equal(output, "[vmm] (4096 characters lost)\r\n[vmm] y\r\n");
}

/* A relay to another core does that, between any two characters. */
static void what_is_being_dropped_may_be_taken(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CONSOLE_OUTPUT_SIZE; i++)
		put(log_console, "x");
	put(log_console, "\ny");
	while (log_console->output_count != 0)
		console_pop(log_console);
	put(log_console, "z\n");
	assert_int_equal(log_console->output_count, 2);
	assert_int_equal(log_console->output_lines, 1);
	assert_int_equal(console_pop(log_console), 'z');
}

/* A terminal as far as the multiplexer uses one: lines and "clear the line". */
struct screen {
	char text[1 << 20];
	size_t length;
	size_t line; /* where the unfinished line begins */
	size_t column;
	unsigned sequence; /* bytes of "clear the line" still to come */
};

static struct screen screen;

static void screen_take(const char *bytes)
{
	for (; *bytes != '\0'; bytes++) {
		if (screen.sequence > 0) {
			assert_int_equal(*bytes, "K["[--screen.sequence]);
		} else if (*bytes == '\r') {
			screen.column = 0;
		} else if (*bytes == '\n') {
			screen.text[screen.length++] = '\n';
			screen.line = screen.length;
			screen.column = 0;
		} else if (*bytes == '\x1b') {
			assert_int_equal(screen.column, 0);
			screen.length = screen.line;
			screen.sequence = 2;
		} else {
			assert_true(screen.length < sizeof(screen.text) - 2);
			screen.text[screen.line + screen.column++] = *bytes;
			if (screen.length < screen.line + screen.column)
				screen.length = screen.line + screen.column;
		}
	}
}

/* Each console writes numbered lines; each must find them all again, in order. */
struct writer {
	struct console *console;
	const char *prefix;
	char line[64];
	size_t position;
	unsigned written;
	unsigned seen;
};

static void writer_next(struct writer *writer)
{
	if (writer->line[writer->position] == '\0') {
		snprintf(writer->line, sizeof(writer->line), "%s line %u of many%s\r\n",
			 writer->console->name, writer->written,
			 writer->written % 7 == 0 ? " and some more" : "");
		writer->written++;
		writer->position = 0;
	}
	if (console_put(writer->console, writer->line[writer->position]))
		writer->position++;
}

static void writer_check(struct writer *writer, const char *line)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "%s%s line %u of many%s", writer->prefix,
		 writer->console->name, writer->seen,
		 writer->seen % 7 == 0 ? " and some more" : "");
	assert_string_equal(line, expected);
	writer->seen++;
}

/* Writers and the screen take turns, of any length, until the screen is nearly full. */
static void writers_run(struct writer writers[3])
{
	u32 random = 5;

	for (unsigned round = 0; round < 30000; round++) {
		u32 burst = random_next(&random) % 60;
		char byte[2] = "";

		while (burst-- > 0)
			writer_next(&writers[random_next(&random) % 3]);
		burst = random_next(&random) % 80;
		while (burst-- > 0 && console_has_output(&mux)) {
			int next = console_output(&mux);

			byte[0] = next >= 0 ? (char)next : '\0';
			screen_take(byte);
		}
		if (screen.length > sizeof(screen.text) - 10000)
			break;
	}
}

/* Each writes the rest of its line, and the screen takes all that there is. */
static void writers_finish(struct writer writers[3])
{
	for (unsigned i = 0; i < 3; i++)
		while (writers[i].line[writers[i].position] != '\0') {
			writer_next(&writers[i]);
			screen_take(drain());
		}
	screen_take(drain());
	screen.text[screen.length] = '\0';
}

static void nothing_is_lost_or_mixed(void **state)
{
	struct writer writers[3] = { { .console = linux_console, .prefix = "" },
				     { .console = rtos, .prefix = "[rtos] " },
				     { .console = log_console, .prefix = "[vmm] " } };
	char *line;

	(void)state;
	writers_run(writers);
	writers_finish(writers);
	for (line = strtok(screen.text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		unsigned i = strncmp(line, "[rtos] ", 7) == 0 ? 1
			   : strncmp(line, "[vmm] ", 6) == 0  ? 2
							      : 0;

		writer_check(&writers[i], line);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(writers[i].seen, writers[i].written);
		assert_true(writers[i].seen > 1000);
	}
}

static void take_expected(void)
{
	bool expected = console_has_output(&mux);

	assert_true(console_output(&mux) < 0 || expected);
}

/* Arbitrary bytes, keys and changes of focus: it always comes to an end. */
static void random_bytes_do_no_harm(void **state)
{
	struct console *all[] = { linux_console, rtos, log_console };
	u32 random = 9;

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		u32 what = random_next(&random);
		struct console *console = all[what % 3];

		what = random_next(&random) % 16;
		if (what == 0)
			console_input(&mux, (u8)random_next(&random));
		else if (what == 1)
			type(i % 64 == 0 ? "\x01n" : "\x01" "a");
		else if (what == 2)
			console_finish_line(console);
		else if (what == 3)
			console_get(console);
		else if (what < 10)
			console_put(console, "\x1b\r\n[]nc0m~\x18\xe2\x82x"[what + i % 5]);
		else
			take_expected();
	}
	drain();
	assert_false(console_has_output(&mux));
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(all[i]->output_lines, 0);
		assert_in_range(all[i]->output_count, 0, CONSOLE_LINE_SIZE - 1);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_focused_console_is_raw),
		TEST(other_lines_come_whole_and_named),
		TEST(the_unfinished_line_is_drawn_again),
		TEST(the_focused_console_finishes_its_line_first),
		TEST(consoles_take_turns),
		TEST(an_endless_line_does_not_hold_up_the_others),
		TEST(a_line_too_long_to_draw_again_goes_on_below),
		TEST(a_line_that_others_wrote_is_left_alone),
		TEST(long_lines_of_others_are_broken),
		TEST(characters_are_not_cut),
		TEST(a_full_console_with_the_screen_says_what_it_takes),
		TEST(others_cannot_move_the_cursor),
		TEST(a_sequence_is_taken_up_again),
		TEST(requests_are_not_sent_twice),
		TEST(the_focus_moves_the_keyboard),
		TEST(a_change_of_focus_is_announced),
		TEST(coming_back_shows_the_unfinished_line),
		TEST(a_line_is_finished_before_the_focus_changes),
		TEST(keys),
		TEST(help_fits_with_all_names),
		TEST(a_full_buffer_refuses),
		TEST(the_log_drops_its_oldest_lines),
		TEST(the_log_drops_with_the_focus_too),
		TEST(a_line_is_whole_although_dropped_meanwhile),
		TEST(a_log_without_lines_drops_characters),
		TEST(a_stopped_guest_ends_its_line),
		TEST(a_full_console_ends_its_line_and_loses_nothing),
		TEST(what_cannot_be_shown_is_taken_in_steps),
		TEST(a_long_line_is_dropped_in_steps),
		TEST(what_is_being_dropped_may_be_taken),
		TEST(typing_beyond_the_room_is_lost),
		TEST(nothing_is_lost_or_mixed),
		TEST(random_bytes_do_no_harm),
	};

	return RUN_TESTS(tests);
}
