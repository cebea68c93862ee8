/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A printf for the log: no locale, no floating point, no allocation.
 */
#include "lib/format.h"

#include "lib/math.h"
#include "lib/string.h"

struct output {
	char *buffer;
	u32 size;
	u32 length;
};

/* One conversion, as the pattern describes it. */
struct conversion {
	u32 width;
	bool left;
	bool zeroes;
	bool wide;   /* ll */
	char kind;
};

static void output_put(struct output *out, char character)
{
	if (out->length + 1 < out->size)
		out->buffer[out->length++] = character;
}

static void output_fill(struct output *out, char character, u32 count)
{
	while (count-- > 0)
		output_put(out, character);
}

/* The sign of a number goes in front of zeroes, but behind spaces. */
static void output_field(struct output *out, const struct conversion *conversion, bool negative,
			 const char *text, u32 length)
{
	u32 all = length + negative;
	u32 padding = conversion->width > all ? conversion->width - all : 0;

	if (!conversion->left && !conversion->zeroes)
		output_fill(out, ' ', padding);
	if (negative)
		output_put(out, '-');
	if (!conversion->left && conversion->zeroes)
		output_fill(out, '0', padding);
	for (u32 i = 0; i < length; i++)
		output_put(out, text[i]);
	if (conversion->left)
		output_fill(out, ' ', padding);
}

static void output_number(struct output *out, const struct conversion *conversion, u64 value)
{
	char digits[20];
	u32 position = sizeof(digits);
	u32 digit;
	bool negative = conversion->kind == 'd' && (s64)value < 0;

	if (negative)
		value = 0 - value;
	do {
		value = divide_u64(value, conversion->kind == 'x' ? 16 : 10, &digit);
		digits[--position] = "0123456789abcdef"[digit];
	} while (value != 0);
	output_field(out, conversion, negative, &digits[position], (u32)sizeof(digits) - position);
}

/* Reads what follows a '%'; returns the character behind it. */
static const char *conversion_parse(struct conversion *conversion, const char *pattern)
{
	*conversion = (struct conversion){ 0 };
	for (; *pattern == '-' || *pattern == '0'; pattern++) {
		conversion->left |= *pattern == '-';
		conversion->zeroes |= *pattern == '0';
	}
	for (; *pattern >= '0' && *pattern <= '9'; pattern++)
		conversion->width = conversion->width * 10 + (u32)(*pattern - '0');
	if (pattern[0] == 'l' && pattern[1] == 'l') {
		conversion->wide = true;
		pattern += 2;
	}
	conversion->kind = *pattern;
	return *pattern != '\0' ? pattern + 1 : pattern;
}

u32 format_list(char *buffer, u32 size, const char *pattern, va_list arguments)
{
	struct output out = { buffer, size, 0 };
	struct conversion conversion;
	const char *start;
	const char *text;
	char character;

	while (*pattern != '\0') {
		if (*pattern != '%') {
			output_put(&out, *pattern++);
			continue;
		}
		start = pattern;
		pattern = conversion_parse(&conversion, pattern + 1);
		switch (conversion.kind) {
		case 's':
			text = va_arg(arguments, const char *);
			conversion.zeroes = false;
			output_field(&out, &conversion, false, text, (u32)strlen(text));
			break;
		case 'c':
			character = (char)va_arg(arguments, int);
			conversion.zeroes = false;
			output_field(&out, &conversion, false, &character, 1);
			break;
		case 'd':
			output_number(&out, &conversion,
				      conversion.wide ? va_arg(arguments, u64)
						      : (u64)(s64)va_arg(arguments, s32));
			break;
		case 'u':
		case 'x':
			output_number(&out, &conversion,
				      conversion.wide ? va_arg(arguments, u64)
						      : va_arg(arguments, u32));
			break;
		case '%':
			output_put(&out, '%');
			break;
		default:
			while (start < pattern)
				output_put(&out, *start++);
		}
	}
	out.buffer[out.length] = '\0';
	return out.length;
}

u32 format(char *buffer, u32 size, const char *pattern, ...)
{
	va_list arguments;
	u32 length;

	va_start(arguments, pattern);
	length = format_list(buffer, size, pattern, arguments);
	va_end(arguments);
	return length;
}
