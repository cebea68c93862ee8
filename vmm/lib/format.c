/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a printf without locale, floating point or allocation. All patterns are the VMM's own, and the
 * compiler checks them against their arguments, so this code does not.
 */
#include "lib/format.h"

#include "lib/math.h"

struct output {
	char *at, *end; /* where the next character goes, and the buffer's last byte */
	void (*put)(char); /* takes the characters; NULL: they go into the buffer */
};

/* Is inline, since some callers mask interrupts and the time for each character counts. */
static INLINE void output_put(struct output *out, char character)
{
	if (out->put != NULL)
		out->put(character);
	else if (out->at != out->end)
		*out->at++ = character;
}

static void output_number(struct output *out, u64 value, u32 base, u32 width)
{
	char digits[20];
	u32 count = 0;
	u32 digit;

	do {
		value = divide_u64(value, base, &digit);
		digits[count++] = "0123456789abcdef"[digit];
	} while (value != 0);
	for (; width > count; width--)
		output_put(out, '0');
	while (count-- > 0)
		output_put(out, digits[count]);
}

/* Writes one conversion. Returns what follows it in the pattern. */
static const char *output_conversion(struct output *out, const char *pattern, va_list *arguments)
{
	u32 width = 0;
	bool wide;

	for (; *pattern >= '0' && *pattern <= '9'; pattern++)
		width = width * 10 + (u32)(*pattern - '0');
	wide = *pattern == 'l';
	if (wide)
		pattern += 2;
	if (*pattern == 's')
		for (const char *text = va_arg(*arguments, const char *); *text != '\0'; text++)
			output_put(out, *text);
	else
		output_number(out, wide ? va_arg(*arguments, u64) : va_arg(*arguments, u32),
			      *pattern == 'x' ? 16 : 10, width);
	return pattern + 1;
}

/* Copies the va_list before it hands on its address: where va_list is an array, the parameter is a
 * mere pointer, whose address has another type. */
static void output_list(struct output *out, const char *pattern, va_list arguments)
{
	va_list rest;

	va_copy(rest, arguments);
	while (*pattern != '\0') {
		if (*pattern == '%')
			pattern = output_conversion(out, pattern + 1, &rest);
		else
			output_put(out, *pattern++);
	}
	va_end(rest);
}

u32 format_list(char *buffer, u32 size, const char *pattern, va_list arguments)
{
	struct output out = {buffer, buffer + size - 1, NULL};

	output_list(&out, pattern, arguments);
	*out.at = '\0';
	return (u32)(out.at - buffer);
}

void format_each(void (*put)(char), const char *pattern, va_list arguments)
{
	struct output out = {.put = put};

	output_list(&out, pattern, arguments);
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
