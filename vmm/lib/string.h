/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the C library that GCC may call in freestanding code, and
 * strnlen(); their meaning is the standard's. And a comparison.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strnlen(const char *string, size_t limit);

bool string_equals(const char *a, const char *b);

/* The string behind one in a list of strings, each with a 0 byte at its end. */
static inline const char *string_next(const char *string)
{
	size_t rest = SIZE_MAX;

	__asm__ volatile("repne scasb" : "+D"(string), "+c"(rest) : "a"(0) : "memory", "cc");
	return string;
}

/* The one at an index of such a list: a quarter smaller than a table of pointers, and
 * an instruction for each character before it. */
static inline const char *string_of_list(const char *list, uint32_t index)
{
	while (index-- > 0)
		list = string_next(list);
	return list;
}
