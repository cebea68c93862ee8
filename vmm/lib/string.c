/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has functions of the C library, by string instructions of the CPU where these are fast enough for
 * whole pages. They rely on a clear direction flag, which every entry into the VMM provides.
 */
#include "lib/string.h"

#include "lib/types.h"

/* Whether the compiler knows that nothing is left behind whole words: where it makes a copy of the
 * function for a size that it knows. Elsewhere an instruction that does nothing costs less than to
 * look. */
static INLINE bool is_whole(size_t size)
{
	return __builtin_constant_p(size) && size % 4 == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *position = to;
	size_t words = size / 4;

	__asm__ volatile("rep movsl" : "+D"(position), "+S"(from), "+c"(words) : : "memory");
	if (is_whole(size))
		return to;
	size %= 4;
	__asm__ volatile("rep movsb" : "+D"(position), "+S"(from), "+c"(size) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	u8 *target = to;
	const u8 *source = from;

	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(to, from, size);
	while (size-- > 0)
		target[size] = source[size];
	return to;
}

void *memset(void *to, int value, size_t size)
{
	void *position = to;
	size_t words = size / 4;
	u32 pattern = (u8)value * 0x01010101u;

	__asm__ volatile("rep stosl" : "+D"(position), "+c"(words) : "a"(pattern) : "memory");
	if (is_whole(size))
		return to;
	size %= 4;
	__asm__ volatile("rep stosb" : "+D"(position), "+c"(size) : "a"(pattern) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const u8 *left = a;
	const u8 *right = b;

	for (size_t i = 0; i < size; i++)
		if (left[i] != right[i])
			return left[i] - right[i];
	return 0;
}

size_t strnlen(const char *string, size_t limit)
{
	size_t length = 0;

	while (length < limit && string[length] != '\0')
		length++;
	return length;
}

bool string_equals(const char *a, const char *b)
{
	for (; *a == *b; a++, b++)
		if (*a == '\0')
			return true;
	return false;
}
