/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and string functions for guests without a C library. Size matters
 * here and speed does not: guests move little but what "rep movsb" moves.
 */
#include <string.h>

void *memcpy(void *to, const void *from, size_t size)
{
	void *start = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	return start;
}

void *memset(void *to, int value, size_t size)
{
	void *start = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
	return start;
}

int memcmp(const void *left, const void *right, size_t size)
{
	const unsigned char *a = left, *b = right;

	for (; size; a++, b++, size--)
		if (*a != *b)
			return *a - *b;
	return 0;
}

size_t strlen(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}

int strcmp(const char *left, const char *right)
{
	for (; *left && *left == *right; left++)
		right++;
	return (unsigned char)*left - (unsigned char)*right;
}
