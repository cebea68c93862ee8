/* SPDX-License-Identifier: Apache-2.0 */
/* The command log, which shows the VMM's log as far as its ring has it, and what comes then. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "guest.h"
#include "json.h"
#include "ring.h"

/* With --follow so much time passes between two looks. */
#define PAUSE_US 100000

/* Holds a line that is not complete yet. */
struct line {
	char text[GANDALF_CONSOLE_RING];
	size_t length;
	bool cut; /* its start is missing, so it is not shown */
};

static void line_end(struct line *line, const struct arguments *arguments)
{
	bool follow = arguments->options & OPTION_FOLLOW;

	if (!line->cut && !json_wanted(arguments)) {
		fwrite(line->text, 1, line->length, stdout);
		putchar('\n');
	} else if (!line->cut) {
		if (follow)
			json_object(NULL);
		json_bytes(follow ? "line" : NULL, line->text, line->length);
		if (follow)
			json_end();
	}
	line->length = 0;
	line->cut = false;
}

static void line_feed(struct line *line, const struct arguments *arguments, const char *bytes,
		      long size)
{
	for (long i = 0; i < size; i++) {
		if (bytes[i] == '\n' || line->length == sizeof(line->text))
			line_end(line, arguments);
		if (bytes[i] != '\n' && bytes[i] != '\r')
			line->text[line->length++] = bytes[i];
	}
}

static void tell_lost(struct line *line, const struct arguments *arguments, uint32_t lost)
{
	if (!lost)
		return;
	line->length = 0;
	line->cut = true;
	if (!json_wanted(arguments)) {
		printf("[%u bytes of the log were overwritten]\n", lost);
	} else if (arguments->options & OPTION_FOLLOW) {
		json_object(NULL);
		json_number("lost", lost);
		json_end();
	}
}

/* Shows what is new. Returns false after a sentence. */
static bool show(struct ring *ring, struct line *line, const struct arguments *arguments)
{
	static char bytes[GANDALF_CONSOLE_RING];
	uint32_t lost;
	long size = ring_read(ring, bytes, &lost);

	if (size < 0)
		return false;
	tell_lost(line, arguments, lost);
	line_feed(line, arguments, bytes, size);
	fflush(stdout);
	return true;
}

static int show_once(struct ring *ring, struct line *line, const struct arguments *arguments)
{
	bool done;

	if (json_wanted(arguments)) {
		json_object(NULL);
		json_truth("complete", ring->complete);
		json_array("lines");
	}
	done = show(ring, line, arguments);
	if (line->length)
		line_end(line, arguments);
	if (json_wanted(arguments)) {
		json_end();
		json_end();
	}
	return done ? 0 : 1;
}

int command_log(const struct arguments *arguments)
{
	static struct line line;
	struct ring ring;

	if (!ring_begin(&ring, GANDALF_PLACE_VMM))
		return 1;
	line.cut = !ring.complete;
	if (!(arguments->options & OPTION_FOLLOW))
		return show_once(&ring, &line, arguments);
	while (show(&ring, &line, arguments))
		usleep(PAUSE_US);
	return 1;
}
