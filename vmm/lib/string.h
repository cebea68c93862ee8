/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the C library that GCC may call in freestanding code, and strnlen(), with their
 * standard meaning; and functions for strings and for lists of strings.
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

/* Writes the same 16 bits count times. */
static inline void memset_words(uint16_t *to, uint16_t value, size_t count)
{
	size_t pairs = count / 2;
	uint32_t pattern = value * 0x10001u;

	__asm__ volatile("rep stosl" : "+D"(to), "+c"(pairs) : "a"(pattern) : "memory");
	if (count % 2 != 0)
		*to = value;
}

bool string_equals(const char *a, const char *b);

/* Returns the string that follows another one in a list of strings. Such a list is one array, in
 * which each string ends with a 0 byte. */
static inline const char *string_next(const char *string)
{
	size_t rest = SIZE_MAX;

	__asm__ volatile("repne scasb" : "+D"(string), "+c"(rest) : "a"(0) : "memory", "cc");
	return string;
}

/* Returns the string at an index of such a list. A list is a quarter smaller than a table of
 * pointers. To find a string takes an instruction for each character in front of it. */
static inline const char *string_of_list(const char *list, uint32_t index)
{
	while (index-- > 0)
		list = string_next(list);
	return list;
}
