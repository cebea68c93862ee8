/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several consoles on one UART. The console with the focus has the keyboard, and its bytes go out
 * as they are. Complete lines of the others are inserted, with the console's name in front. Behind
 * them the focused console's unfinished line is drawn again. Two consoles never share a line.
 *
 * Guests, the VMM's log and the driver of the physical UART call these functions; interrupts are
 * masked, so they do not do so at the same time. A call looks at a few characters only, with some
 * ten instructions for each. Notices that the user asks for may take a little longer.
 */
#pragma once

#include "abi/control.h"
#include "abi/table.h"
#include "lib/types.h"

/* One for every guest, and one for the VMM's log. */
#define CONSOLES_MAXIMUM (GANDALF_GUESTS_MAXIMUM + 1)
#define CONSOLE_OUTPUT_SIZE GANDALF_CONSOLE_RING
#define CONSOLE_INPUT_SIZE 1024
/* Lines of a console without the focus are broken if they are longer than this. */
#define CONSOLE_LINE_SIZE 200
/* Room for the longest text that is ever inserted at once. */
#define CONSOLE_INSERT_SIZE 640

/* The large arrays come last in both structures: access to a small offset takes less code. */
struct console {
	u32 output_count, output_lines; /* bytes not shown yet, and line feeds among them */
	u32 output_total; /* bytes ever written; modulo the size, the place of the next one */
	u32 input_first, input_count; /* place and number of the bytes not read yet */
	u32 line_length;    /* bytes of line; more than its size: it cannot be drawn again */
	u8 escape;          /* state of the escape sequence in the line: ESCAPE_... */
	u32 escape_start;   /* where in the line that sequence began */
	u32 lost;           /* characters that were dropped, which is not shown yet */
	bool end_due;       /* its line is to be ended as soon as there is room for that */
	char name[GANDALF_NAME_SIZE];
	/* What has been shown since the last line feed, so that it can be drawn again. */
	u8 line[CONSOLE_LINE_SIZE];
	u8 input[CONSOLE_INPUT_SIZE];
	u8 output[CONSOLE_OUTPUT_SIZE];
};

struct console_mux {
	u32 count;
	struct console *focus;  /* has the keyboard */
	struct console *shown;  /* its line is on the screen; it follows focus */
	struct console *source; /* its line is being inserted, or was the last */
	bool command;           /* Ctrl-A was typed, and a letter is to follow */
	/* A notice of who has the keyboard is due; help is due. */
	bool notice_focus, notice_help;
	bool muted;             /* nothing of other consoles is shown (mute.h) */
	struct console *help;    /* the console that help is to name next, or NULL */
	const char *insert_rest; /* the rest of a notice, which takes a step of its own since
				  * interrupts wait; or NULL */
	u32 turn;               /* bytes that the focused console may still write */
	bool inserting;         /* the source's line is being inserted */
	u8 source_escape;       /* state of the escape sequence in that line */
	u32 source_length;      /* characters of that line so far */
	bool source_ended;      /* the last byte of that line was a line feed */
	struct console *dropping; /* its oldest line is being dropped; NULL: nobody's */
	bool redrawing;         /* the shown line is being drawn again */
	u32 redrawn;            /* characters of it so far */
	u32 insert_first, insert_count; /* the bytes of insert that are still to go out */
	char insert[CONSOLE_INSERT_SIZE];
	struct console consoles[CONSOLES_MAXIMUM];
};

void console_mux_init(struct console_mux *mux);

/*
 * Adds a console and returns it, or NULL if there are CONSOLES_MAXIMUM already. The first one has
 * the focus. The name is copied.
 */
struct console *console_add(struct console_mux *mux, const char *name);

/* Takes a byte of output. Returns false, and does not take it, if there is no room. */
bool console_put(struct console *console, char character);

/* Does the same for the VMM's log, of which the newest lines count most. It always takes the byte:
 * if its buffer is full it drops its oldest line, and the number of lost characters is shown. */
void console_put_dropping(struct console_mux *mux, struct console *console, char character);

/* Returns how many bytes console_put() would take now. */
static inline u32 console_room(const struct console *console)
{
	return console->end_due ? 0 : CONSOLE_OUTPUT_SIZE - console->output_count;
}

/* Ends the unfinished line of a guest that has stopped, so that it is shown. If there is no room
 * for that, the line is ended as soon as there is, and nothing else is taken before. It is not for
 * a console that drops lines. */
void console_finish_line(struct console *console);

/* Returns the next byte for the physical UART, or -1 if there is none or if it takes another call
 * to find out. console_has_output() tells these apart. */
int console_output(struct console_mux *mux);
/* Returns whether console_output() will return a byte, perhaps after some calls. */
bool console_has_output(struct console_mux *mux);

/*
 * Takes a byte from the physical UART. Ctrl-A n moves the focus, Ctrl-A h shows help, Ctrl-A a is a
 * literal Ctrl-A, and Ctrl-A x is for the host tool; what Ctrl-A m does says mute.h. Other bytes go
 * to the focused console. They are lost if it has no room.
 */
void console_input(struct console_mux *mux, u8 byte);

/* Takes a byte as if it were typed for this console. Returns false if there is no room. */
bool console_type(struct console *console, u8 byte);

/* Returns the next byte that was typed for this console, or -1. */
int console_get(struct console *console);
bool console_has_input(const struct console *console);

/* Says that somebody else has written to the UART, so that the line on the screen is unknown. What
 * is inserted next goes below it. */
void console_forget_line(struct console_mux *mux);

/* Gives the keyboard to a console and has that shown. */
void console_set_focus(struct console_mux *mux, struct console *console);
