/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows in a buffer. */
#include "text.h"

#include "print.h"

void text_add(struct text_buffer *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text->length += (uint32_t)text_format(text->to + text->length, text->size - text->length,
					      format, arguments);
	va_end(arguments);
}
