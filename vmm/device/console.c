/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console multiplexer. Nothing is copied into lines beforehand: whenever the
 * physical UART asks for a byte, console_output() decides where it comes from.
 * Most come from the focused console (PASS). Between its lines, or when it has
 * nothing to say, something is inserted: a text of the multiplexer's own (INSERT)
 * or a prefix (PREFIX), a line of another console (TEXT) and the line's end
 * (INSERT), and then what the screen had lost (REDRAW). Every phase but PASS has
 * at least one byte left.
 */
#include "device/console.h"

#include "lib/format.h"
#include "lib/string.h"

enum {
	PHASE_PASS,
	PHASE_PREFIX,
	PHASE_TEXT,
	PHASE_INSERT,
	PHASE_REDRAW
};

/* Where in an escape sequence (ECMA-48) a console's output stands. */
enum {
	ESCAPE_NONE,
	ESCAPE_START,      /* behind ESC and intermediates */
	ESCAPE_CONTROL,    /* behind ESC [ */
	ESCAPE_STRING,     /* behind ESC ] and the like, up to BEL or ESC \ */
	ESCAPE_STRING_END  /* an ESC in there */
};

#define BELL 0x07
#define CANCEL 0x18
#define ESCAPE 0x1b
#define DELETE 0x7f
#define CONTROL_A 0x01
/* Bytes of one character beyond CONSOLE_LINE_SIZE, so that UTF-8 is not cut. */
#define CHARACTER_REST 4

static bool in_range(u8 byte, u8 first, u8 last)
{
	return byte >= first && byte <= last;
}

static u8 escape_next(u8 state, u8 byte)
{
	if (byte == ESCAPE)
		return state == ESCAPE_STRING ? ESCAPE_STRING_END : ESCAPE_START;
	if (byte == CANCEL || byte == '\n')
		return ESCAPE_NONE;
	switch (state) {
	case ESCAPE_START:
		if (byte == '[')
			return ESCAPE_CONTROL;
		if (byte == ']' || byte == 'P' || byte == '^' || byte == '_')
			return ESCAPE_STRING;
		return in_range(byte, 0x20, 0x2f) ? ESCAPE_START : ESCAPE_NONE;
	case ESCAPE_CONTROL:
		return in_range(byte, 0x40, 0x7e) ? ESCAPE_NONE : ESCAPE_CONTROL;
	case ESCAPE_STRING:
		return byte == BELL ? ESCAPE_NONE : ESCAPE_STRING;
	default:
		return ESCAPE_NONE;
	}
}

/* Sequences that must not be sent twice: requests (n, c, Z), titles, a reset. */
static bool escape_is_once(u8 state, u8 final)
{
	return state >= ESCAPE_STRING || final == 'n' || final == 'c' || final == 'Z';
}

static void line_clear(struct console *console)
{
	console->line_length = 0;
	console->line_cut = false;
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
	if (console->line_length == CONSOLE_LINE_SIZE)
		console->line_cut = true;
	else if (byte != BELL || before != ESCAPE_NONE)
		console->line[console->line_length++] = byte;
	if (before != ESCAPE_NONE && console->escape == ESCAPE_NONE &&
	    escape_is_once(before, byte) && !console->line_cut)
		console->line_length = console->escape_start;
}

static bool line_is_empty(const struct console *console)
{
	return console->line_length == 0 && !console->line_cut;
}

static u8 output_peek(const struct console *console, u32 offset)
{
	return console->output[(console->output_first + offset) % CONSOLE_OUTPUT_SIZE];
}

static u8 output_pop(struct console *console)
{
	u8 byte = output_peek(console, 0);

	console->output_first = (console->output_first + 1) % CONSOLE_OUTPUT_SIZE;
	console->output_count--;
	if (byte == '\n')
		console->output_lines--;
	return byte;
}

static void output_push(struct console *console, u8 byte)
{
	u32 last = console->output_first + console->output_count;

	console->output[last % CONSOLE_OUTPUT_SIZE] = byte;
	console->output_count++;
	if (byte == '\n')
		console->output_lines++;
}

/* The end of a line that has been shown already is not a line of its own. */
static void output_skip_line_end(struct console_mux *mux, struct console *console)
{
	u32 length = 1;

	if (!console->continued || console == mux->shown)
		return;
	if (console->output_count > 0 && output_peek(console, 0) == '\r')
		length = 2;
	if (console->output_count < length || output_peek(console, length - 1) != '\n')
		return;
	while (length-- > 0)
		output_pop(console);
	console->continued = false;
	line_clear(console);
}

/* Something to insert: a line, as much as a line may hold, or a loss to tell. */
static bool console_is_ready(const struct console *console)
{
	return console->output_lines > 0 || console->output_count >= CONSOLE_LINE_SIZE ||
	       console->lost > 0;
}

static bool other_is_ready(const struct console_mux *mux)
{
	const struct console *console = mux->consoles;

	for (u32 i = 0; i < mux->count; i++, console++)
		if (console != mux->shown && console_is_ready(console))
			return true;
	return false;
}

__attribute__((format(printf, 2, 3))) static void insert_add(struct console_mux *mux,
							      const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	mux->insert_count += format_list(&mux->insert[mux->insert_count],
					 CONSOLE_INSERT_SIZE - mux->insert_count, pattern,
					 arguments);
	va_end(arguments);
}

static void insert_begin(struct console_mux *mux, u8 phase)
{
	mux->insert_first = 0;
	mux->insert_count = 0;
	mux->phase = phase;
}

/* Takes the unfinished line from the screen if it can be drawn again. */
static void insert_clear_line(struct console_mux *mux)
{
	struct console *shown = mux->shown;

	if (line_is_empty(shown))
		return;
	if (shown->escape != ESCAPE_NONE)
		insert_add(mux, "%c", CANCEL);
	if (shown->line_cut) {
		insert_add(mux, "\r\n");
		line_clear(shown);
	} else {
		insert_add(mux, "\r\x1b[K");
	}
}

static void insert_lost(struct console_mux *mux, struct console *console)
{
	if (console->lost > 0)
		insert_add(mux, "[%s] (%u characters lost)\r\n", console->name, console->lost);
	console->lost = 0;
}

static void line_end_insertion(struct console_mux *mux, struct console *console)
{
	insert_begin(mux, PHASE_INSERT);
	insert_add(mux, "\r\n");
	output_skip_line_end(mux, console);
}

static struct console *console_next(struct console_mux *mux, struct console *console)
{
	return ++console == &mux->consoles[mux->count] ? mux->consoles : console;
}

/* Begins with a line of the next console, in turn, that has one. */
static void line_begin_insertion(struct console_mux *mux)
{
	struct console *console = mux->source;

	do
		console = console_next(mux, console);
	while (console == mux->shown || !console_is_ready(console));
	mux->source = console;
	mux->fresh = true;
	mux->run = 0;
	mux->taken = 0;
	mux->filter = ESCAPE_NONE;
	insert_begin(mux, PHASE_PREFIX);
	insert_clear_line(mux);
	insert_lost(mux, console);
	if (console->output_count == 0) {
		mux->phase = PHASE_INSERT;
		return;
	}
	insert_add(mux, "[%s] ", console->name);
	line_clear(console);
}

static void notice_begin_focus(struct console_mux *mux)
{
	struct console *old = mux->shown;

	mux->notice_focus = false;
	mux->fresh = true;
	mux->run = 0;
	insert_begin(mux, PHASE_INSERT);
	if (old->escape != ESCAPE_NONE)
		insert_add(mux, "%c", CANCEL);
	if (!line_is_empty(old))
		insert_add(mux, "\r\n");
	old->continued = !line_is_empty(old);
	mux->shown = mux->focus;
	output_skip_line_end(mux, old);
	mux->shown->continued = false;
	insert_add(mux, "[console %s has the keyboard]\r\n", mux->shown->name);
}

static void notice_begin_help(struct console_mux *mux)
{
	const struct console *console = mux->consoles;

	mux->notice_help = false;
	insert_begin(mux, PHASE_INSERT);
	insert_clear_line(mux);
	insert_add(mux, "[Ctrl-A n: next console, Ctrl-A a: Ctrl-A itself, Ctrl-A x: leave, "
			"Ctrl-A h: this]\r\n[consoles:");
	for (u32 i = 0; i < mux->count; i++, console++)
		insert_add(mux, " %s%s", console->name,
			   console == mux->focus ? " (keyboard)" : "");
	insert_add(mux, "]\r\n");
}

static void notice_begin_lost(struct console_mux *mux, struct console *shown)
{
	insert_begin(mux, PHASE_INSERT);
	insert_clear_line(mux);
	if (!line_is_empty(shown))
		insert_add(mux, "\r\n");
	line_clear(shown);
	insert_lost(mux, shown);
}

/*
 * Whether it is the focused console's turn although others wait: it finishes its
 * line, or has one after each line of the others, but no endless one.
 */
static bool shown_goes_on(const struct console_mux *mux, const struct console *shown)
{
	return (mux->fresh || !line_is_empty(shown)) && mux->run < CONSOLE_LINE_SIZE;
}

static int shown_byte(struct console_mux *mux, struct console *shown)
{
	u8 byte = output_pop(shown);

	line_track(shown, byte);
	mux->run++;
	if (byte == '\n') {
		mux->fresh = false;
		mux->run = 0;
	}
	return byte;
}

/* The next byte of the focused console, or -1 and another phase or nothing at all. */
static int output_pass(struct console_mux *mux)
{
	struct console *shown = mux->shown;

	if (mux->notice_focus) {
		notice_begin_focus(mux);
	} else if (mux->notice_help) {
		notice_begin_help(mux);
	} else if (shown->lost > 0) {
		notice_begin_lost(mux, shown);
	} else if (!other_is_ready(mux)) {
		return shown->output_count > 0 ? shown_byte(mux, shown) : -1;
	} else if (shown->output_count > 0 && shown_goes_on(mux, shown)) {
		return shown_byte(mux, shown);
	} else {
		line_begin_insertion(mux);
	}
	return -1;
}

static bool is_visible(const struct console_mux *mux, u8 byte, u8 filter)
{
	return mux->filter == ESCAPE_NONE && filter == ESCAPE_NONE && byte != DELETE &&
	       (byte >= ' ' || byte == '\t');
}

static bool line_is_full(const struct console_mux *mux, u8 byte)
{
	bool continuation = (byte & 0xc0) == 0x80;

	return mux->taken >= CONSOLE_LINE_SIZE + (continuation ? CHARACTER_REST : 0);
}

/*
 * The next byte of the inserted line, without what could move the cursor, or -1
 * at its end.
 */
static int output_text(struct console_mux *mux)
{
	struct console *console = mux->source;

	while (console->output_count > 0) {
		u8 byte = output_peek(console, 0);
		u8 filter = escape_next(mux->filter, byte);
		bool visible = is_visible(mux, byte, filter);

		if (visible && line_is_full(mux, byte))
			break;
		output_pop(console);
		mux->filter = filter;
		if (byte == '\n') {
			console->continued = false;
			line_end_insertion(mux, console);
			return -1;
		}
		if (visible) {
			mux->taken++;
			return byte;
		}
	}
	console->continued = true;
	line_end_insertion(mux, console);
	return -1;
}

static int output_insert(struct console_mux *mux)
{
	struct console *shown = mux->shown;
	u8 byte = (u8)mux->insert[mux->insert_first++];

	if (mux->insert_first < mux->insert_count)
		return byte;
	if (mux->phase == PHASE_PREFIX) {
		mux->phase = PHASE_TEXT;
	} else {
		mux->redraw = 0;
		mux->phase = shown->line_length > 0 ? PHASE_REDRAW : PHASE_PASS;
	}
	return byte;
}

static int output_redraw(struct console_mux *mux)
{
	struct console *shown = mux->shown;
	u8 byte = shown->line[mux->redraw++];

	if (mux->redraw == shown->line_length)
		mux->phase = PHASE_PASS;
	return byte;
}

int console_output(struct console_mux *mux)
{
	int byte;

	do {
		switch (mux->phase) {
		case PHASE_PREFIX:
		case PHASE_INSERT:
			return output_insert(mux);
		case PHASE_REDRAW:
			return output_redraw(mux);
		case PHASE_TEXT:
			byte = output_text(mux);
			break;
		default:
			byte = output_pass(mux);
		}
	} while (byte < 0 && mux->phase != PHASE_PASS);
	return byte;
}

bool console_has_output(const struct console_mux *mux)
{
	const struct console *shown = mux->shown;

	return mux->phase != PHASE_PASS || mux->notice_focus || mux->notice_help ||
	       shown->lost > 0 || shown->output_count > 0 || other_is_ready(mux);
}

void console_mux_init(struct console_mux *mux)
{
	memset(mux, 0, sizeof(*mux));
	mux->focus = mux->consoles;
	mux->shown = mux->consoles;
	mux->source = mux->consoles;
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

void console_set_drops_oldest(struct console *console)
{
	console->drops_oldest = true;
}

/* Makes room. A line that is just being shown ends where it is. */
static void output_drop_line(struct console_mux *mux, struct console *console)
{
	u8 byte;

	do {
		byte = output_pop(console);
		console->lost++;
	} while (byte != '\n' && console->output_lines > 0);
	if (mux->phase == PHASE_TEXT && console == mux->source)
		line_end_insertion(mux, console);
}

bool console_put(struct console_mux *mux, struct console *console, char character)
{
	if (console->output_count == CONSOLE_OUTPUT_SIZE) {
		if (!console->drops_oldest)
			return false;
		output_drop_line(mux, console);
	}
	output_push(console, (u8)character);
	output_skip_line_end(mux, console);
	return true;
}

u32 console_room(const struct console *console)
{
	return CONSOLE_OUTPUT_SIZE - console->output_count;
}

void console_finish_line(struct console_mux *mux, struct console *console)
{
	u32 count = console->output_count;

	if (count == 0 && (console != mux->shown || line_is_empty(console)))
		return;
	if (count > 0 && output_peek(console, count - 1) == '\n')
		return;
	/* The last two characters make way where there is no room for the end. */
	while (console->output_count > CONSOLE_OUTPUT_SIZE - 2) {
		console->output_count--;
		if (output_peek(console, console->output_count) == '\n')
			console->output_lines--;
		console->lost++;
	}
	console_put(mux, console, '\r');
	console_put(mux, console, '\n');
}

static void input_push(struct console *console, u8 byte)
{
	u32 last = console->input_first + console->input_count;

	if (console->input_count == CONSOLE_INPUT_SIZE) {
		console->input_lost++;
		return;
	}
	console->input[last % CONSOLE_INPUT_SIZE] = byte;
	console->input_count++;
}

static void input_command(struct console_mux *mux, u8 byte)
{
	switch (byte) {
	case 'n':
		console_set_focus(mux, console_next(mux, mux->focus));
		break;
	case 'a':
		input_push(mux->focus, CONTROL_A);
		break;
	case 'x':
		/* The host's tool leaves before it gets here. */
		break;
	default:
		mux->notice_help = true;
	}
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

int console_get(struct console_mux *mux, struct console *console)
{
	u8 byte = console->input[console->input_first];

	(void)mux;
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

void console_set_focus(struct console_mux *mux, struct console *console)
{
	mux->focus = console;
	mux->notice_focus = true;
}

struct console *console_focus(struct console_mux *mux)
{
	return mux->focus;
}
