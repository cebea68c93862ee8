/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several consoles on one UART. The console with the focus has the keyboard and
 * its bytes go out as they are; complete lines of the others are inserted, with
 * their name in front, and the focused console's unfinished line is drawn again
 * behind them. Two consoles never share a line.
 *
 * Guests, the VMM's log and the driver of the physical UART all call in here;
 * the caller keeps them from doing so at the same time. A call takes bounded
 * time: a few characters are looked at, some ten instructions for each, but for
 * notices that the user asks for.
 */
#pragma once

#include "abi/control.h"
#include "abi/table.h"
#include "lib/types.h"

/* Every guest and the VMM's log. */
#define CONSOLES_MAXIMUM (GANDALF_GUESTS_MAXIMUM + 1)
#define CONSOLE_OUTPUT_SIZE GANDALF_CONSOLE_RING
#define CONSOLE_INPUT_SIZE 1024
/* Longer lines of a console without the focus are broken here. */
#define CONSOLE_LINE_SIZE 200
/* Room for what is inserted, the help text the longest, and a line behind it. */
#define CONSOLE_INSERT_SIZE 640

/* Here and below the large arrays come last: what has a small offset takes less code. */
struct console {
	u32 output_count, output_lines; /* and line feeds among them */
	u32 output_total; /* bytes ever; where the next goes, modulo the size */
	u32 input_first, input_count;
	u32 line_length;    /* beyond the size of the line: cannot be drawn again */
	u8 escape;          /* state of the escape sequence in the line */
	u32 escape_start;   /* where in the line it began */
	bool drops_oldest;  /* a full buffer drops its oldest line instead of refusing a byte,
			     * and the number of characters lost is shown: the VMM's log */
	u32 lost;           /* characters dropped and not yet announced */
	bool end_due;       /* its line is to be ended as soon as there is room for that */
	char name[GANDALF_NAME_SIZE];
	/* What has been shown since the last line feed, to draw it again. */
	u8 line[CONSOLE_LINE_SIZE];
	u8 input[CONSOLE_INPUT_SIZE];
	u8 output[CONSOLE_OUTPUT_SIZE];
};

struct console_mux {
	u32 count;
	struct console *focus;  /* has the keyboard */
	struct console *shown;  /* whose line is on the screen; follows focus */
	struct console *source; /* whose line was inserted last */
	bool command;           /* Ctrl-A was typed */
	/* Due: that of the focus, help. */
	bool notice_focus, notice_help;
	struct console *help;    /* the next that help is to name, or NULL */
	const char *insert_rest; /* of a notice: in two steps, since interrupts wait meanwhile */
	u32 turn;               /* bytes that the focused console may still write */
	bool inserting;         /* the source's line is being inserted */
	u8 source_escape;       /* state of the escape sequence in it */
	u32 source_length;      /* characters of it so far */
	bool source_ended;      /* its last byte was a line feed */
	struct console *dropping; /* whose oldest line is being dropped; NULL: nobody's */
	bool redrawing;         /* the shown line is being drawn again */
	u32 redrawn;            /* characters of it so far */
	u32 insert_first, insert_count;
	char insert[CONSOLE_INSERT_SIZE];
	struct console consoles[CONSOLES_MAXIMUM];
};

void console_mux_init(struct console_mux *mux);

/*
 * Adds a console; the first one has the focus. NULL if there are
 * CONSOLES_MAXIMUM already. The name is copied.
 */
struct console *console_add(struct console_mux *mux, const char *name);

/* A byte of output. false, and nothing kept, if there is no room. */
bool console_put(struct console_mux *mux, struct console *console, char character);

/* The bytes that console_put() would take now without dropping any. */
u32 console_room(const struct console *console);

/* Ends an unfinished line, so that it is shown: the guest has stopped. Without room for that it
 * is ended as soon as there is, before anything else is taken. Not for one that drops its oldest
 * line. */
void console_finish_line(struct console *console);

/* The next byte for the physical UART or -1: there is none, or none yet, if console_has_output()
 * says so. */
int console_output(struct console_mux *mux);
bool console_has_output(struct console_mux *mux);

/*
 * A byte from the physical UART. Ctrl-A n moves the focus, Ctrl-A h shows help,
 * Ctrl-A a is a literal Ctrl-A, Ctrl-A x is the host tool's. Others go to the
 * focused console; without room they are lost.
 */
void console_input(struct console_mux *mux, u8 byte);

/* A byte as if it were typed for this console; false: no room. */
bool console_type(struct console *console, u8 byte);

/* The next byte typed for this console or -1. */
int console_get(struct console *console);
bool console_has_input(const struct console *console);

/* Somebody else has written to the UART: nobody knows the line on the screen, so what is
 * inserted next goes below it. */
void console_forget_line(struct console_mux *mux);

/* Gives the keyboard to a console and announces it. */
void console_set_focus(struct console_mux *mux, struct console *console);
