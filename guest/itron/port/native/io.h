/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O ports of a PC.
 */
#ifndef IO_H
#define IO_H

#include "itron.h"

static inline UB io_read(UH port)
{
	UB value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline void io_write(UH port, UB value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

#endif
