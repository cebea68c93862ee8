/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: when its doorbell is rung, it has its timer interrupt once, a microsecond
 * later for each page of its memory; then it changes its own data, which it checks.
 * pc-boundaries.elf has that interrupt hit what the VMM does for it.
 */
#include "boundaries.h"
#include "guest.h"

#define WORDS 256

static uint32_t words[WORDS];

static void words_turn(uint32_t round)
{
	for (uint32_t i = round % 16; i < WORDS; i += 16)
		if (words[i]++ != round / 16)
			guest_fail("injector", "its memory has changed");
}

static void ring(struct handler_frame *frame)
{
	(void)frame;
	timer_start(shared_page->memory_size / BOUNDARIES_PAGE);
}

static void expire(struct handler_frame *frame)
{
	(void)frame;
	timer_start(0);
}

void main(void)
{
	uint32_t expired = 0;

	interrupt_hook[GANDALF_VECTOR_DOORBELL] = ring;
	interrupt_hook[GANDALF_VECTOR_TIMER] = expire;
	handlers_install();
	for (;;) {
		interrupt_wait();
		for (; expired != interrupt_count[GANDALF_VECTOR_TIMER]; expired++)
			words_turn(expired);
	}
}
