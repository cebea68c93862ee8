/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lwIP is told of the compiler and of the environment, which has no C library. lwIP prescribes
 * the names.
 */
#ifndef ARCH_CC_H
#define ARCH_CC_H

#include "FreeRTOS.h"
#include "cpu.h"
#include "print.h"

#define BYTE_ORDER LITTLE_ENDIAN
#define LWIP_NO_INTTYPES_H 1
#define LWIP_NO_LIMITS_H 1
#define LWIP_NO_UNISTD_H 1
#define LWIP_NO_CTYPE_H 1
#define INT_MAX __INT_MAX__
typedef long ssize_t;
#define SSIZE_MAX __LONG_MAX__

/* Functions of lwIP that nobody calls here name these. There are none, so the link would fail. */
int atoi(const char *text);
int strncmp(const char *left, const char *right, size_t size);
void *memmove(void *to, const void *from, size_t size);

/* Where a port of TCP begins, so that another life of this guest takes others. */
#define LWIP_RAND() ((u32_t)time_stamp())
#define LWIP_PLATFORM_DIAG(arguments) print arguments
/* The application's own says where it was. */
#define LWIP_PLATFORM_ASSERT(text) configASSERT(false)

#endif
