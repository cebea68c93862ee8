/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: the victim of a search for what keeps an RTOS from the CPU. Its timer interrupts
 * as often as it may, and what the handler begins with reads how late it is. Each ring of its
 * doorbell begins a phase, or ends it; `dispatch_worst` has the worst of each, and is read from
 * outside.
 */
#include "guest.h"

#define PHASES 4096
#define PERIOD 53 /* microseconds */

/* Time stamps; the machine's instructions take 8. */
uint32_t dispatch_worst[PHASES];
uint32_t dispatch_phases;
/* Expiries of the timer ever, by which one outside sees that the machine goes on. */
uint32_t dispatch_expiries;

void dispatch_expired(void);
void dispatch_rung(void);
void dispatch_note(uint32_t now);
void dispatch_phase(void);

/* They interrupt the halt only, which enables interrupts again. */
__asm__(".globl dispatch_expired\n"
	"dispatch_expired:\n"
	"	pusha\n"
	"	rdtsc\n"
	"	push	%eax\n"
	"	call	dispatch_note\n"
	"	pop	%eax\n"
	"	popa\n"
	"	iret\n"
	".globl dispatch_rung\n"
	"dispatch_rung:\n"
	"	pusha\n"
	"	call	dispatch_phase\n"
	"	popa\n"
	"	iret\n");

void dispatch_note(uint32_t now)
{
	uint32_t late = now - (uint32_t)shared_page->timer_expiry;
	uint32_t *worst = &dispatch_worst[dispatch_phases % PHASES];

	if (late > *worst)
		*worst = late;
	dispatch_expiries++;
}

void dispatch_phase(void)
{
	dispatch_worst[++dispatch_phases % PHASES] = 0;
}

void main(void)
{
	static struct gandalf_handlers handlers;

	handlers.entry[GANDALF_VECTOR_TIMER] = (uint32_t)dispatch_expired;
	handlers.entry[GANDALF_VECTOR_DOORBELL] = (uint32_t)dispatch_rung;
	handlers_register(&handlers);
	timer_start(PERIOD);
	for (;;)
		interrupt_wait();
}
