/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uITRON on the Gandalf VMM: three hypercalls (handlers, interrupt flag, halt), and those of
 * timer and console. There is no hardware here.
 */
#include "port.h"

#include "board.h"
#include "interrupt.h"
#include "schedule.h"
#include "system.h"

#define TICK_MICROSECONDS 1000

_Static_assert(TMAX_INHNO < GANDALF_VECTORS && INHNO_TIMER == GANDALF_VECTOR_TIMER &&
	       INHNO_CONSOLE == GANDALF_VECTOR_CONSOLE && INHNO_DOORBELL == GANDALF_VECTOR_DOORBELL,
	       "a handler number is the VMM's vector");
_Static_assert(offsetof(struct gandalf_shared, interrupt_flag) == 0, "port_asm.h relies on it");
_Static_assert(offsetof(struct gandalf_shared, pending) == 8, "port_asm.h relies on it");

void (*board_console_wait)(void);

/* If a more urgent guest held the CPU, the ticks that it cost come with the next one. */
UINT port_timer_ticks(void)
{
	static UW overruns_before;
	UW overruns = shared_page->timer_overruns, ticks = overruns - overruns_before + 1;

	overruns_before = overruns;
	return ticks;
}

void port_start(void)
{
	struct gandalf_handlers table = { 0 };

	for (UINT vector = 0; vector <= TMAX_INHNO; vector++)
		if (interrupt_handlers[vector])
			table.entry[vector] = (UW)context_entries + vector * CONTEXT_ENTRY_SIZE;
	handlers_register(&table);
	timer_start(TICK_MICROSECONDS);
	port_floating_point_switch(NULL, running->floating_point);
	port_restore();
}

static void wait_for_console(void)
{
	if (board_console_wait && !sns_dpn())
		board_console_wait();
	else
		console_spin();
}

void main(void)
{
	console_wait = wait_for_console;
	kernel_start();
}

uint32_t board_time_stamp_khz(void)
{
	return shared_page->tsc_khz;
}

/* The two halves are of one expiry: only a timer interrupt writes them. */
uint64_t board_timer_expiry(void)
{
	uint64_t expiry;

	do
		expiry = shared_page->timer_expiry;
	while (expiry != shared_page->timer_expiry);
	return expiry;
}

size_t board_console_read(char *to, size_t size)
{
	return console_read(to, size < GANDALF_CONSOLE_CHUNK ? size : GANDALF_CONSOLE_CHUNK);
}
