/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: interrupts whatever the VMM does for others, at all of its
 * instructions in turn. Its timer expires as often as one may, and is started
 * anew with other periods and phases all the time, so that expiries drift over
 * what runs beside it. It checks its own data meanwhile, and prints now and then
 *
 *	rounds=N expiries=N
 */
#include "guest.h"
#include "print.h"

#define PERIODS 47     /* microseconds above the least */
#define WAITS 16       /* expiries in a round */
#define PHASES 4099    /* instructions by which a round begins later than the last */
#define ROUNDS_PER_LINE 500
#define WORDS 1024

static uint32_t words[WORDS];

/* Holds the CPU for about a number of instructions. */
static void delay(uint32_t instructions)
{
	__asm__ volatile("1:\tsub $2, %0\n\tja 1b" : "+r"(instructions) : : "cc");
}

static void words_turn(uint32_t round)
{
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t *word = &words[(round * 64 + i) % WORDS];

		if (*word != ((round * 64 + i) / WORDS ^ i))
			guest_fail("sweep", "its memory has changed");
		*word = ((round * 64 + i) / WORDS + 1) ^ i;
	}
}

void main(void)
{
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i % 64;
	handlers_install();
	for (uint32_t round = 0;; round++) {
		delay(2 + round * 17 % PHASES);
		timer_start(GANDALF_TIMER_MINIMUM + round * 5 % PERIODS);
		for (uint32_t i = 0; i < WAITS; i++)
			interrupt_wait();
		timer_start(0);
		words_turn(round);
		if (round % ROUNDS_PER_LINE == ROUNDS_PER_LINE - 1)
			print("rounds=%u expiries=%u\n", round + 1,
			      interrupt_count[GANDALF_VECTOR_TIMER]);
	}
}
