/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what the console multiplexer shows. No lines are prepared: whenever the physical UART
 * wants a byte, console_output() decides where it comes from. Most bytes come from the focused
 * console. Between its lines, or when it has nothing to say, a line of another console or a notice
 * is inserted, a few characters at a time. Then the line that was on the screen is drawn again.
 * Whoever reads the stream can tell what each console wrote, line ends included.
 */
#include "device/console_buffer.h"
#include "device/escape.h"
#include "lib/format.h"
#include "lib/string.h"
#include "mute.h"

/* Characters of an inserted line that are made in one step, since interrupts wait meanwhile. */
#define STEP 4u
/* Steps in one call of console_output(), even if they make nothing that can be shown. */
#define STEPS 2u
/* Characters of a line that are dropped in one step. */
#define DROP_STEP 4u
/* Bytes of one character beyond CONSOLE_LINE_SIZE, so that UTF-8 is not cut. */
#define CHARACTER_REST 4
/* Ends a line on the screen that the console has not ended. A terminal ignores the first byte, CAN.
 * The host tool learns by it that the line end is not the console's
 * (tools/gandalf/console/demultiplex.py). */
#define BREAK "\x18\r\n"

/* Forgets the unfinished line on the screen. */
static void console_line_clear(struct console *console)
{
	console->line_length = 0;
	console->escape = ESCAPE_NONE;
}

/* Remembers a byte that has gone to the screen as part of that line. */
static void console_line_track(struct console *console, u8 byte)
{
	u8 before = console->escape;

	if (byte == '\n') {
		console_line_clear(console);
		return;
	}
	if (before != ESCAPE_NONE || byte == ESCAPE) {
		console->escape = escape_next(before, byte);
		if (before == ESCAPE_NONE)
			console->escape_start = console->line_length;
	}
	if (console->line_length < CONSOLE_LINE_SIZE)
		console->line[console->line_length] = byte;
	if (byte != BELL || before != ESCAPE_NONE)
		console->line_length++;
	if (before != ESCAPE_NONE && console->escape == ESCAPE_NONE && escape_is_once(before, byte))
		console->line_length = console->escape_start;
}

u8 console_pop(struct console *console)
{
	u8 byte = console_peek(console);

	console->output_count--;
	if (byte == '\n')
		console->output_lines--;
	if (console->end_due)
		console_end_line(console);
	return byte;
}

/* Drops the next characters of the oldest line, to make room. None of that line is shown, unless
 * all has been taken meanwhile, as a relay does (core/relay.c). */
static void output_drop_step(struct console_mux *mux)
{
	struct console *console = mux->dropping;
	u8 byte = 0;

	if (console->output_count == 0)
		mux->dropping = NULL;
	for (u32 i = 0; i < DROP_STEP && mux->dropping != NULL; i++) {
		byte = console_pop(console);
		console->lost++;
		if (byte == '\n' || console->output_lines == 0)
			mux->dropping = NULL;
	}
}

static bool is_inserting(const struct console_mux *mux, const struct console *console)
{
	return mux->inserting && mux->source == console;
}

/* Returns whether a console has something to insert: a line, as much as a line may hold, or the
 * notice of a loss. */
static bool console_is_ready(const struct console *console)
{
	return console->output_lines > 0 || console->output_count >= CONSOLE_LINE_SIZE ||
	       console->lost > 0;
}

/* Returns the next console, in turn, that has something to insert, or NULL. */
static struct console *other_ready(struct console_mux *mux)
{
	struct console *console = mux->source;

	if (mute_is_on(mux))
		return NULL;
	do {
		console = console_next(mux, console);
		if (console != mux->shown && console_is_ready(console))
			return console;
	} while (console != mux->source);
	return NULL;
}

/* Adds a text to what is inserted. It does not use format(), which takes several times as long. The
 * buffer has room for all that is ever added. */
static void insert_text(struct console_mux *mux, const char *text)
{
	char *to = &mux->insert[mux->insert_count];

	for (; *text != '\0'; text++)
		*to++ = *text;
	mux->insert_count = (u32)(to - mux->insert);
}

/* Adds a bracket, a console's name and what is to follow it, which mostly closes the bracket. */
static void insert_name(struct console_mux *mux, const struct console *console, const char *rest)
{
	insert_text(mux, "[");
	insert_text(mux, console->name);
	insert_text(mux, rest);
}

/* Leaves the unfinished line: erases it if it can be drawn again, and otherwise goes below it. With
 * below it goes below in any case. */
static void insert_leave_line(struct console_mux *mux, bool below)
{
	struct console *shown = mux->shown;

	if (shown->line_length > CONSOLE_LINE_SIZE) {
		insert_text(mux, BREAK);
		console_line_clear(shown);
	} else if (shown->line_length > 0) {
		if (!below && shown->escape != ESCAPE_NONE)
			insert_text(mux, "\x18"); /* cancels the escape sequence */
		insert_text(mux, below ? BREAK : "\r\x1b[K");
	}
}

static bool redraw_is_due(const struct console_mux *mux)
{
	return mux->redrawing && mux->redrawn < mux->shown->line_length &&
	       mux->redrawn < CONSOLE_LINE_SIZE;
}

/* Adds the next characters of the unfinished line. */
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

/* Takes a byte from a console's line, and adds it if it cannot move the cursor. Returns false at
 * the end of the line, or if the line is full; then it does not take the byte. */
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
	console_pop(console);
	mux->source_escape = next;
	mux->source_ended = byte == '\n';
	return !mux->source_ended;
}

/* Adds the next characters of another console's line, or the end of the line. */
static void insert_text_step(struct console_mux *mux)
{
	struct console *console = mux->source;
	u32 i;

	for (i = 0; i < STEP; i++)
		if (console->output_count == 0 ||
		    !insert_byte(mux, console, console_peek(console)))
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
	console_line_clear(console);
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
	mux->insert_rest = "Ctrl-A x: leave, Ctrl-A h: this]\r\n" MUTE_HELP "[consoles:";
	mux->help = mux->consoles;
}

/* Adds the name of one more console to the help. */
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
	console_line_clear(mux->shown);
	insert_lost(mux, mux->shown);
}

/*
 * Begins to insert what is due. Returns false if nothing is, or if it is the focused console's
 * turn. While others wait, that console may still finish its line, and may write a line after each
 * of theirs. Its turn ends after CONSOLE_LINE_SIZE bytes, so that no line is endless.
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

/* Makes the next characters that are inserted. Returns false if there is nothing to insert. */
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

/* Takes the next byte of the focused console. */
static u8 shown_byte(struct console_mux *mux)
{
	u8 byte = console_pop(mux->shown);

	if (mux->turn > 0)
		mux->turn--;
	else if (mux->shown->line_length == 0)
		mux->turn = CONSOLE_LINE_SIZE - 1;
	if (byte == '\n')
		mux->turn = 0;
	console_line_track(mux->shown, byte);
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

/* Makes room in a full buffer. Each byte that is written has a few more characters of the oldest
 * line dropped. If that line is being inserted it is not dropped: a few more of its characters are
 * inserted instead. */
static void output_make_room(struct console_mux *mux, struct console *console)
{
	if (console->output_count == CONSOLE_OUTPUT_SIZE && is_inserting(mux, console))
		insert_text_step(mux);
	if (console->output_count == CONSOLE_OUTPUT_SIZE)
		mux->dropping = console;
	if (mux->dropping == console)
		output_drop_step(mux);
}

void console_put_dropping(struct console_mux *mux, struct console *console, char character)
{
	output_make_room(mux, console);
	console_push(console, (u8)character);
}

void console_forget_line(struct console_mux *mux)
{
	mux->redrawing = false;
	mux->shown->line_length = CONSOLE_LINE_SIZE + 1;
}
