/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for the log, for reports and for messages: a small printf.
 */
#pragma once

#include <stdarg.h>

#include "lib/types.h"

/*
 * Conversions: %s %u %x, the numbers with an optional ll for 64 bits and, as in
 * %08x, the least number of digits. There are no others. The result always ends
 * with a 0 byte (size > 0) and is cut off where the buffer ends. Returns the
 * characters written without the 0 byte: at most size - 1.
 */
u32 format(char *buffer, u32 size, const char *pattern, ...) __attribute__((format(printf, 3, 4)));
u32 format_list(char *buffer, u32 size, const char *pattern, va_list arguments)
	__attribute__((format(printf, 3, 0)));
/* Without a buffer: each character goes to put(), which may take its time. */
void format_each(void (*put)(char), const char *pattern, va_list arguments)
	__attribute__((format(printf, 2, 0)));
