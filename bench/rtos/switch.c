/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench that is switched to and from: it halts, and is called by its doorbell. Both
 * ends are labels, for somebody who measures from outside:
 *
 *	switch_halt	the hypercall that halts; Linux goes on
 *	switch_rung	the handler's first instruction
 */
#include "rtos.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

void switch_halts(void);
void switch_rung(void);

/* Halts for ever; the handler enables interrupts again and returns behind the hypercall. ECX: the
 * shared page, which begins with the interrupt flag. */
__asm__(".globl switch_halts, switch_halt, switch_rung\n"
	"switch_halts:\n"
	"	movl	shared_page, %ecx\n"
	"1:	movl	$" TEXT(GANDALF_HYPERCALL_HALT) ", %eax\n"
	"switch_halt:\n"
	"	int	$" TEXT(GANDALF_HYPERCALL_VECTOR) "\n"
	"	jmp	1b\n"
	"switch_rung:\n"
	"	movl	$" TEXT(GANDALF_INTERRUPT_FLAG) ", (%ecx)\n"
	"	iret\n");

void main(void)
{
	static struct gandalf_handlers handlers;

	handlers.entry[GANDALF_VECTOR_DOORBELL] = (uint32_t)switch_rung;
	handlers_register(&handlers);
	switch_halts();
}
