/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formatted output for guests without a C library; see print.h.
 */
#include "print.h"

#include <stdbool.h>

/* The longest number: 32 bits in decimal with its sign. */
#define DIGITS_MAXIMUM 11

struct text {
	char *to;
	size_t size; /* with room for the final 0 */
	size_t length;
};

static void text_put(struct text *text, char c)
{
	if (text->length + 1 < text->size)
		text->to[text->length++] = c;
}

static void text_put_number(struct text *text, unsigned int number, unsigned int base,
			    bool negative, unsigned int width, char fill)
{
	char digits[DIGITS_MAXIMUM];
	unsigned int count = 0;

	do {
		digits[count++] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	if (negative)
		digits[count++] = '-';
	for (; width > count; width--)
		text_put(text, fill);
	while (count)
		text_put(text, digits[--count]);
}

static void text_put_signed(struct text *text, int number, unsigned int width, char fill)
{
	unsigned int magnitude = number < 0 ? -(unsigned int)number : (unsigned int)number;

	text_put_number(text, magnitude, 10, number < 0, width, fill);
}

size_t text_format(char *to, size_t size, const char *format, va_list arguments)
{
	struct text text = { .to = to, .size = size };

	for (; *format; format++) {
		unsigned int width = 0;
		char fill = ' ';

		if (*format != '%') {
			text_put(&text, *format);
			continue;
		}
		if (*++format == '0')
			fill = *format++;
		for (; *format >= '0' && *format <= '9'; format++)
			width = width * 10 + (unsigned int)(*format - '0');
		if (*format == 's')
			for (const char *s = va_arg(arguments, const char *); *s; s++)
				text_put(&text, *s);
		else if (*format == 'c')
			text_put(&text, (char)va_arg(arguments, int));
		else if (*format == 'd')
			text_put_signed(&text, va_arg(arguments, int), width, fill);
		else if (*format == 'u' || *format == 'x')
			text_put_number(&text, va_arg(arguments, unsigned int),
					*format == 'u' ? 10 : 16, false, width, fill);
		else
			text_put(&text, *format);
	}
	to[text.length] = 0;
	return text.length;
}

void print(const char *format, ...)
{
	char line[PRINT_MAXIMUM];
	va_list arguments;

	va_start(arguments, format);
	console_write(line, text_format(line, sizeof(line), format, arguments));
	va_end(arguments);
}
