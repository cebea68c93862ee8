/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console multiplexer. Nothing is copied into lines beforehand: whenever the
 * physical UART asks for a byte, console_output() decides where it comes from.
 * Most come from the focused console. Between its lines, or when it has nothing to
 * say, something is inserted: a line of another console or a notice, put together
 * a few characters at a time, and behind it what the screen had lost by it. Whoever
 * reads the stream can tell what each console wrote, line ends included.
 */
#include "device/console.h"

#include "lib/format.h"
#include "lib/string.h"

/* Where in an escape sequence (ECMA-48) a console's output stands: behind ESC and
 * intermediates; ESC [; ESC ] and the like, up to BEL or ESC \; an ESC in there. */
enum { ESCAPE_NONE, ESCAPE_START, ESCAPE_CONTROL, ESCAPE_STRING, ESCAPE_STRING_END };

enum { CONTROL_A = 0x01, BELL = 0x07, CANCEL = 0x18, ESCAPE = 0x1b, DELETE = 0x7f };
/* Characters that are put together at once: interrupts wait meanwhile. */
#define STEP 4u
/* Steps before somebody else's turn comes, though nothing that can be shown has come of them. */
#define STEPS 2u
/* Characters of a line that are dropped at once. */
#define DROP_STEP 8u
/* Bytes of one character beyond CONSOLE_LINE_SIZE, so that UTF-8 is not cut. */
#define CHARACTER_REST 4
/* Ends a line on the screen that the console has not ended. A terminal ignores CAN, but
 * who takes the stream apart (tools/gandalf/console/demultiplex.py) learns whose line end it is. */
#define BREAK "\x18\r\n"

static u8 escape_next(u8 state, u8 byte)
{
	if (byte == ESCAPE)
		return state == ESCAPE_STRING ? ESCAPE_STRING_END : ESCAPE_START;
	if (byte == CANCEL || byte == '\n')
		return ESCAPE_NONE;
	if (state == ESCAPE_CONTROL)
		return byte >= 0x40 && byte <= 0x7e ? ESCAPE_NONE : ESCAPE_CONTROL;
	if (state == ESCAPE_STRING)
		return byte == BELL ? ESCAPE_NONE : ESCAPE_STRING;
	if (state != ESCAPE_START)
		return ESCAPE_NONE;
	if (byte == '[')
		return ESCAPE_CONTROL;
	if (byte == ']' || byte == 'P' || byte == '^' || byte == '_')
		return ESCAPE_STRING;
	return (byte & 0xf0) == 0x20 ? ESCAPE_START : ESCAPE_NONE;
}

/* Sequences that must not be sent twice: requests (n, c, Z), titles, a reset. */
static bool escape_is_once(u8 state, u8 final)
{
	return state >= ESCAPE_STRING || final == 'n' || final == 'c' || final == 'Z';
}

static void line_clear(struct console *console)
{
	console->line_length = 0;
	console->escape = ESCAPE_NONE;
}

/* Remembers a byte that has gone to the screen. */
static void line_track(struct console *console, u8 byte)
{
	u8 before = console->escape;

	if (byte == '\n') {
		line_clear(console);
		return;
	}
	console->escape = escape_next(before, byte);
	if (before == ESCAPE_NONE && console->escape != ESCAPE_NONE)
		console->escape_start = console->line_length;
	if (console->line_length < CONSOLE_LINE_SIZE)
		console->line[console->line_length] = byte;
	if (byte != BELL || before != ESCAPE_NONE)
		console->line_length++;
	if (before != ESCAPE_NONE && console->escape == ESCAPE_NONE && escape_is_once(before, byte))
		console->line_length = console->escape_start;
}

static u8 output_peek(const struct console *console, u32 offset)
{
	u32 first = console->output_total - console->output_count;

	return console->output[(first + offset) % CONSOLE_OUTPUT_SIZE];
}

static void output_push(struct console *console, u8 byte)
{
	console->output[console->output_total++ % CONSOLE_OUTPUT_SIZE] = byte;
	console->output_count++;
	if (byte == '\n')
		console->output_lines++;
}

/* As soon as there is room for it. */
static void line_end(struct console *console)
{
	if (!console->end_due || CONSOLE_OUTPUT_SIZE - console->output_count < 2)
		return;
	console->end_due = false;
	output_push(console, '\r');
	output_push(console, '\n');
}

static u8 output_pop(struct console *console)
{
	u8 byte = output_peek(console, 0);

	console->output_count--;
	if (byte == '\n')
		console->output_lines--;
	line_end(console);
	return byte;
}

/* Makes room: the next characters of the oldest line go. Nothing of it is shown meanwhile. */
static void output_drop_step(struct console_mux *mux)
{
	struct console *console = mux->dropping;
	u8 byte = 0;

	for (u32 i = 0; i < DROP_STEP && mux->dropping != NULL; i++) {
		byte = output_pop(console);
		console->lost++;
		if (byte == '\n' || console->output_lines == 0)
			mux->dropping = NULL;
	}
}

static bool is_inserting(const struct console_mux *mux, const struct console *console)
{
	return mux->inserting && mux->source == console;
}

/* Something to insert: a line, as much as a line may hold, or a loss to tell. */
static bool console_is_ready(const struct console *console)
{
	return console->output_lines > 0 || console->output_count >= CONSOLE_LINE_SIZE ||
	       console->lost > 0;
}

static struct console *console_next(struct console_mux *mux, struct console *console)
{
	return ++console == &mux->consoles[mux->count] ? mux->consoles : console;
}

/* The next console, in turn, that has something to insert, or NULL. */
static struct console *other_ready(struct console_mux *mux)
{
	struct console *console = mux->source;

	do {
		console = console_next(mux, console);
		if (console != mux->shown && console_is_ready(console))
			return console;
	} while (console != mux->source);
	return NULL;
}

/* Not by a pattern, which takes several times as long. There is room for all that is ever added. */
static void insert_text(struct console_mux *mux, const char *text)
{
	char *to = &mux->insert[mux->insert_count];

	for (; *text != '\0'; text++)
		*to++ = *text;
	mux->insert_count = (u32)(to - mux->insert);
}

/* A console's name in brackets, or with something else behind it. */
static void insert_name(struct console_mux *mux, const struct console *console, const char *rest)
{
	insert_text(mux, "[");
	insert_text(mux, console->name);
	insert_text(mux, rest);
}

/* Goes below the unfinished line, or takes it from the screen if it can be drawn again. */
static void insert_leave_line(struct console_mux *mux, bool below)
{
	struct console *shown = mux->shown;

	if (shown->line_length > CONSOLE_LINE_SIZE) {
		insert_text(mux, BREAK);
		line_clear(shown);
	} else if (shown->line_length > 0) {
		if (!below && shown->escape != ESCAPE_NONE)
			insert_text(mux, "\x18"); /* cancels it */
		insert_text(mux, below ? BREAK : "\r\x1b[K");
	}
}

static bool redraw_is_due(const struct console_mux *mux)
{
	return mux->redrawing && mux->redrawn < mux->shown->line_length &&
	       mux->redrawn < CONSOLE_LINE_SIZE;
}

/* The next characters of the unfinished line. */
static void insert_redraw_step(struct console_mux *mux)
{
	u32 end = mux->redrawn + STEP;

	while (mux->redrawn < end && redraw_is_due(mux))
		mux->insert[mux->insert_count++] = (char)mux->shown->line[mux->redrawn++];
	mux->redrawing = mux->redrawn == end;
}

static void insert_lost(struct console_mux *mux, struct console *console)
{
	char number[11];

	format(number, sizeof(number), "%u", console->lost);
	insert_name(mux, console, "] (");
	insert_text(mux, number);
	mux->insert_rest = " characters lost)\r\n";
	console->lost = 0;
}

/* A byte that has been taken from a console: added if it cannot move the cursor. */
static bool insert_byte(struct console_mux *mux, struct console *console, u8 byte)
{
	u8 next = escape_next(mux->source_escape, byte);
	bool continues = (byte & 0xc0) == 0x80;
	bool visible = mux->source_escape == ESCAPE_NONE && next == ESCAPE_NONE &&
		       ((byte >= ' ' && byte != DELETE) || byte == '\t');

	if (visible && mux->source_length >= CONSOLE_LINE_SIZE + (continues ? CHARACTER_REST : 0))
		return false;
	if (visible) {
		mux->insert[mux->insert_count++] = (char)byte;
		mux->source_length++;
	}
	output_pop(console);
	mux->source_escape = next;
	mux->source_ended = byte == '\n';
	return !mux->source_ended;
}

/* The next characters of another console's line, and the end of the line. */
static void insert_text_step(struct console_mux *mux)
{
	struct console *console = mux->source;
	u32 i;

	for (i = 0; i < STEP; i++)
		if (console->output_count == 0 ||
		    !insert_byte(mux, console, output_peek(console, 0)))
			break;
	if (i == STEP)
		return;
	mux->inserting = false;
	insert_text(mux, mux->source_ended ? "\r\n" : BREAK);
}

static void insert_line(struct console_mux *mux, struct console *console)
{
	mux->source = console;
	mux->turn = CONSOLE_LINE_SIZE;
	insert_leave_line(mux, false);
	if (console->lost > 0) {
		insert_lost(mux, console);
		return;
	}
	insert_name(mux, console, "] ");
	line_clear(console);
	mux->inserting = true;
	mux->source_length = 0;
	mux->source_escape = ESCAPE_NONE;
}

static void insert_focus_notice(struct console_mux *mux)
{
	mux->notice_focus = false;
	mux->turn = CONSOLE_LINE_SIZE;
	insert_leave_line(mux, true);
	mux->shown = mux->focus;
	insert_text(mux, "[console ");
	insert_text(mux, mux->shown->name);
	mux->insert_rest = " has the keyboard]\r\n";
}

static void insert_help(struct console_mux *mux)
{
	mux->notice_help = false;
	insert_leave_line(mux, false);
	insert_text(mux, "[Ctrl-A n: next console, Ctrl-A a: Ctrl-A itself, ");
	mux->insert_rest = "Ctrl-A x: leave, Ctrl-A h: this]\r\n[consoles:";
	mux->help = mux->consoles;
}

/* One console more. */
static void insert_help_step(struct console_mux *mux)
{
	const struct console *console = mux->help++;

	insert_text(mux, " ");
	insert_text(mux, console->name);
	insert_text(mux, console == mux->focus ? " (keyboard)" : "");
	if (mux->help == &mux->consoles[mux->count]) {
		insert_text(mux, "]\r\n");
		mux->help = NULL;
	}
}

static void insert_shown_lost(struct console_mux *mux)
{
	insert_leave_line(mux, true);
	line_clear(mux->shown);
	insert_lost(mux, mux->shown);
}

/*
 * Begins what is to be inserted now, if anything. It is the focused console's
 * turn although others wait while it finishes its line, or has one after each line
 * of the others, but no endless one.
 */
static bool insert_begin(struct console_mux *mux)
{
	struct console *other = other_ready(mux);

	if (mux->dropping != NULL) {
		output_drop_step(mux);
		return true;
	}
	if (mux->notice_focus)
		insert_focus_notice(mux);
	else if (mux->notice_help)
		insert_help(mux);
	else if (mux->shown->lost > 0)
		insert_shown_lost(mux);
	else if (other != NULL && (mux->shown->output_count == 0 || mux->turn == 0))
		insert_line(mux, other);
	else
		return false;
	mux->redrawing = true;
	mux->redrawn = 0;
	return true;
}

/* Puts the next characters together; false: there is nothing to insert. */
static bool insert_next(struct console_mux *mux)
{
	mux->insert_first = mux->insert_count = 0;
	if (mux->insert_rest != NULL)
		insert_text(mux, mux->insert_rest);
	else if (mux->help != NULL)
		insert_help_step(mux);
	else if (mux->inserting)
		insert_text_step(mux);
	else if (mux->redrawing)
		insert_redraw_step(mux);
	else
		return insert_begin(mux);
	mux->insert_rest = NULL;
	return true;
}

/* The next byte of the focused console. */
static u8 shown_byte(struct console_mux *mux)
{
	u8 byte = output_pop(mux->shown);

	if (mux->turn > 0)
		mux->turn--;
	else if (mux->shown->line_length == 0)
		mux->turn = CONSOLE_LINE_SIZE - 1;
	if (byte == '\n')
		mux->turn = 0;
	line_track(mux->shown, byte);
	return byte;
}

int console_output(struct console_mux *mux)
{
	bool more = true;

	for (u32 i = 0; i < STEPS && more && mux->insert_first == mux->insert_count; i++)
		more = insert_next(mux);
	if (mux->insert_first < mux->insert_count)
		return (u8)mux->insert[mux->insert_first++];
	return !more && mux->shown->output_count > 0 ? shown_byte(mux) : -1;
}

bool console_has_output(struct console_mux *mux)
{
	return mux->insert_first < mux->insert_count || mux->inserting || redraw_is_due(mux) ||
	       mux->notice_focus || mux->insert_rest != NULL || mux->notice_help ||
	       mux->help != NULL || mux->shown->lost > 0 || mux->shown->output_count > 0 ||
	       other_ready(mux) != NULL;
}

void console_mux_init(struct console_mux *mux)
{
	memset(mux, 0, sizeof(*mux));
	mux->focus = mux->shown = mux->source = mux->consoles;
}

struct console *console_add(struct console_mux *mux, const char *name)
{
	struct console *console = &mux->consoles[mux->count];

	if (mux->count == CONSOLES_MAXIMUM)
		return NULL;
	format(console->name, sizeof(console->name), "%s", name);
	mux->count++;
	return console;
}

/* Of the next line that is written nothing is lost, nor of one that has been begun to be shown:
 * that is shown a little further at each byte, or the oldest one is dropped a little further. */
static void output_make_room(struct console_mux *mux, struct console *console)
{
	if (console->output_count == CONSOLE_OUTPUT_SIZE && is_inserting(mux, console))
		insert_text_step(mux);
	if (console->output_count == CONSOLE_OUTPUT_SIZE)
		mux->dropping = console;
	if (mux->dropping == console)
		output_drop_step(mux);
}

bool console_put(struct console_mux *mux, struct console *console, char character)
{
	if (console->drops_oldest)
		output_make_room(mux, console);
	if (console_room(console) == 0)
		return false;
	output_push(console, (u8)character);
	return true;
}

u32 console_room(const struct console *console)
{
	return console->end_due ? 0 : CONSOLE_OUTPUT_SIZE - console->output_count;
}

void console_finish_line(struct console *console)
{
	u32 total = console->output_total;

	console->end_due |= total != 0 &&
			    console->output[(total - 1) % CONSOLE_OUTPUT_SIZE] != '\n';
	line_end(console);
}

/* From the keyboard: without room it is lost. */
static void input_push(struct console *console, u8 byte)
{
	u32 last = console->input_first + console->input_count;

	if (console->input_count == CONSOLE_INPUT_SIZE)
		return;
	console->input[last % CONSOLE_INPUT_SIZE] = byte;
	console->input_count++;
}

bool console_type(struct console *console, u8 byte)
{
	u32 before = console->input_count;

	input_push(console, byte);
	return console->input_count != before;
}

static void input_command(struct console_mux *mux, u8 byte)
{
	if (byte == 'n')
		console_set_focus(mux, console_next(mux, mux->focus));
	else if (byte == 'a')
		input_push(mux->focus, CONTROL_A);
	else if (byte != 'x') /* with which the host's tool leaves before it gets here */
		mux->notice_help = true;
}

void console_input(struct console_mux *mux, u8 byte)
{
	if (mux->command) {
		mux->command = false;
		input_command(mux, byte);
	} else if (byte == CONTROL_A) {
		mux->command = true;
	} else {
		input_push(mux->focus, byte);
	}
}

int console_get(struct console *console)
{
	u8 byte = console->input[console->input_first];

	if (console->input_count == 0)
		return -1;
	console->input_first = (console->input_first + 1) % CONSOLE_INPUT_SIZE;
	console->input_count--;
	return byte;
}

bool console_has_input(const struct console *console)
{
	return console->input_count > 0;
}

void console_forget_line(struct console_mux *mux)
{
	mux->redrawing = false;
	mux->shown->line_length = CONSOLE_LINE_SIZE + 1;
}

void console_set_focus(struct console_mux *mux, struct console *console)
{
	mux->focus = console;
	mux->notice_focus = true;
}
