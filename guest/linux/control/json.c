/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON, and knows which brackets are open. */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAXIMUM 8

/* These are the brackets that are open, and whether something stands between them. */
static char closing[DEPTH_MAXIMUM];
static bool filled[DEPTH_MAXIMUM];
static unsigned depth;

static void write_character(unsigned char character)
{
	if (character == '"' || character == '\\')
		printf("\\%c", character);
	else if (character == '\n')
		fputs("\\n", stdout);
	else if (character < 0x20 || character >= 0x7f)
		printf("\\u%04x", character);
	else
		putchar(character);
}

static void write_text(const char *bytes, size_t size)
{
	putchar('"');
	for (size_t i = 0; i < size; i++)
		write_character((unsigned char)bytes[i]);
	putchar('"');
}

/* Writes what stands before a value. The elements of an array have lines of their own. */
static void begin(const char *name)
{
	if (depth) {
		if (filled[depth - 1])
			putchar(',');
		if (closing[depth - 1] == ']')
			fputs("\n  ", stdout);
		else if (filled[depth - 1])
			putchar(' ');
		filled[depth - 1] = true;
	}
	if (name) {
		write_text(name, strlen(name));
		fputs(": ", stdout);
	}
}

static void open_bracket(const char *name, char opening, char close)
{
	begin(name);
	putchar(opening);
	closing[depth] = close;
	filled[depth++] = false;
}

void json_object(const char *name)
{
	open_bracket(name, '{', '}');
}

void json_array(const char *name)
{
	open_bracket(name, '[', ']');
}

void json_end(void)
{
	putchar(closing[--depth]);
	if (!depth)
		putchar('\n');
}

void json_string(const char *name, const char *text)
{
	json_bytes(name, text, strlen(text));
}

void json_bytes(const char *name, const char *bytes, size_t size)
{
	begin(name);
	write_text(bytes, size);
}

void json_number(const char *name, uint64_t number)
{
	begin(name);
	printf("%" PRIu64, number);
}

void json_fraction(const char *name, double number)
{
	begin(name);
	printf("%.4f", number);
}

void json_truth(const char *name, bool truth)
{
	begin(name);
	fputs(truth ? "true" : "false", stdout);
}

void json_null(const char *name)
{
	begin(name);
	fputs("null", stdout);
}
