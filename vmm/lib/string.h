/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the C library that GCC may call in freestanding code, and
 * strnlen(); their meaning is the standard's. And a comparison.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t strnlen(const char *string, size_t limit);

bool string_equals(const char *a, const char *b);
