/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows in a buffer; what has no room is cut off. */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

struct text_buffer {
	char *to;
	uint32_t size; /* with room for a final 0 */
	uint32_t length;
};

/* Adds formatted text, with the conversions of print(). */
void text_add(struct text_buffer *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
