/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench that ring.c rings: measures what it loses each time, from where it last
 * looked at the time before the message's interrupt to its handler's first instruction. It is the
 * handler that keeps both: behind it the RTOS looks again, often before it sees that it was rung.
 * An emulator that runs CPUs in turn lets the interrupt in behind PAUSE.
 */
#include "print.h"
#include "rtos.h"

#define SAMPLES 200u
#define WARM_UP 8u

static volatile uint32_t handled;
/* The low halves of time stamps: the RTOS's last one, and how much later the handler began. */
static volatile uint32_t last_stamp, lost;

/* Keeps EAX and EDX, of whatever it has interrupted, and sets the interrupt flag again. */
void rung(void);
__asm__(".globl rung\n"
	"rung:\n"
	"	push	%eax\n"
	"	push	%edx\n"
	"	rdtsc\n"
	"	sub	last_stamp, %eax\n"
	"	mov	%eax, lost\n"
	"	incl	handled\n"
	"	mov	shared_page, %eax\n"
	"	movl	$0x200, (%eax)\n"
	"	pop	%edx\n"
	"	pop	%eax\n"
	"	iret\n");

static uint32_t loss(void)
{
	uint32_t before = handled;

	while (handled == before) {
		last_stamp = (uint32_t)time_stamp();
		__asm__ volatile("pause");
	}
	return lost;
}

void main(void)
{
	static struct gandalf_handlers handlers;
	uint32_t sum = 0;

	handlers.entry[GANDALF_VECTOR_DOORBELL] = (uint32_t)rung;
	handlers_register(&handlers);
	interrupt_enable();
	for (uint32_t i = 0; i < WARM_UP; i++)
		(void)loss();
	for (uint32_t i = 0; i < SAMPLES; i++)
		sum += loss();
	print("message: takes=%u ticks_times_100=%u\n", SAMPLES, sum / (SAMPLES / 100));
	for (;;)
		interrupt_wait();
}
