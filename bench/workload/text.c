/* SPDX-License-Identifier: Apache-2.0 */
/* See text.h. */
#include "text.h"

#include "system.h"

static char line[256];
static size_t length;

bool text_is(const char *text, const char *other)
{
	while (*text && *text == *other) {
		text++;
		other++;
	}
	return *text == *other;
}

bool text_has(const char *text, const char *end, const char *word)
{
	for (; text < end; text++) {
		size_t i = 0;

		while (word[i] && text + i < end && text[i] == word[i])
			i++;
		if (!word[i])
			return true;
	}
	return false;
}

uint64_t text_number(const char *text, const char **end)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	if (end)
		*end = text;
	return value;
}

static void line_character(char character)
{
	if (length < sizeof(line))
		line[length++] = character;
}

void line_text(const char *text)
{
	while (*text)
		line_character(*text++);
}

void line_number(uint64_t value)
{
	char digits[20];
	unsigned count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (count)
		line_character(digits[--count]);
}

void line_field(const char *name, uint64_t value)
{
	line_character(' ');
	line_text(name);
	line_character('=');
	line_number(value);
}

void line_write(int file)
{
	line_character('\n');
	system_write(file, line, length);
	length = 0;
}
