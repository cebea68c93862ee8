/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program does with the CPU alone, under the VMM or without: reading the time stamp
 * counter and passing time.
 */
#ifndef CPU_H
#define CPU_H

#include <stdint.h>

static inline uint64_t time_stamp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Holds the CPU for about a thousand instructions. Not by PAUSE, by reading the time
 * or by a short loop: each costs an emulator many times what these cost. */
static inline void cpu_hold(void)
{
	uint32_t rounds = 20;

	__asm__ volatile("1:\t.rept 48\n\tnop\n\t.endr\n\tdecl %0\n\tjnz 1b"
			 : "+r"(rounds)
			 :
			 : "cc");
}

#endif
