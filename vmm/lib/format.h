/* SPDX-License-Identifier: Apache-2.0 */
/* A small printf. It makes the text of the log, of reports and of messages. */
#pragma once

#include <stdarg.h>

#include "lib/types.h"

/*
 * Writes text to a buffer of size bytes, size > 0. The conversions are %s, %u and %x. The last two
 * may have the least number of digits, as in %08x, and ll for 64 bits. The text always ends with a
 * 0 byte, and is cut off where the buffer ends. Returns the characters written without the
 * 0 byte: at most size - 1.
 */
u32 format(char *buffer, u32 size, const char *pattern, ...) __attribute__((format(printf, 3, 4)));
u32 format_list(char *buffer, u32 size, const char *pattern, va_list arguments)
	__attribute__((format(printf, 3, 0)));
/* Gives each character of a text to put(). No buffer is needed, so put() may let others run in
 * between. */
void format_each(void (*put)(char), const char *pattern, va_list arguments)
	__attribute__((format(printf, 2, 0)));
