/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formatted output for guests without a C library. Each environment supplies
 * console_write(): rtos/console.c by hypercall, tests/pc/machine.c by port.
 */
#ifndef PRINT_H
#define PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* The longest text that one print() gives; the rest is cut off. */
#define PRINT_MAXIMUM 200

/* Sends all of the text; a line feed becomes carriage return and line feed. */
void console_write(const char *text, size_t length);

/* As printf, with %c %s %d %u %x %% only, and a width with or without a leading
 * 0 in front of d, u and x. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As vsnprintf, with the conversions of print(), but returns the length of what
 * was stored without the final 0. size is at least 1. */
size_t text_format(char *to, size_t size, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

#endif
