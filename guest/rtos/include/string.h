/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few functions of the C library's header that FreeRTOS and the compiler
 * itself call; the guests are built without a C library.
 */
#ifndef STRING_H
#define STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);
size_t strlen(const char *text);
int strcmp(const char *left, const char *right);

#endif
