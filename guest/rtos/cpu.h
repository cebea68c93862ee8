/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that need the CPU only, and so work under the VMM and without it: reading the time
 * stamp counter and the ring, and passing time.
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

/* Returns the ring that this code is in: 1 under the VMM, or 3 where that alone is privileged. */
static inline uint32_t cpu_ring(void)
{
	uint16_t code;

	__asm__("movw %%cs, %0" : "=r"(code));
	return code & 3;
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
