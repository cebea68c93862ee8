/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that need the CPU only, and so work under the VMM and without it: reading the time
 * stamp counter and passing time.
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

/* Holds the CPU for about a thousand instructions. PAUSE, reading the time or a short loop would
 * cost an emulator many times as much. */
static inline void cpu_hold(void)
{
	uint32_t rounds = 20;

	__asm__ volatile("1:\t.rept 48\n\tnop\n\t.endr\n\tdecl %0\n\tjnz 1b"
			 : "+r"(rounds)
			 :
			 : "cc");
}

#endif
