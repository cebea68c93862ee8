/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions, system calls and IRQs of the PC test guest.
 */
#include "machine.h"
#include "print.h"

#define PIC_MASTER 0x20
#define PIC_SLAVE 0xa0
#define PIC_END_OF_INTERRUPT 0x20

volatile struct trap trap;
volatile uint32_t trap_resume;
volatile uint32_t irq_count[16];
void (*irq_hook[16])(struct trap_frame *frame);
void (*more_hook)(struct trap_frame *frame);
bool (*user_hook)(struct trap_frame *frame);

/* entry.S */
void user_run(const char *code);
bool trap_run(struct trap_frame *frame);

static bool has_error_code(uint32_t vector)
{
	return vector < 32 && (0x27d00U >> vector & 1);
}

static void irq_run(struct trap_frame *frame)
{
	uint32_t irq = frame->vector - VECTOR_IRQ;

	irq_count[irq]++;
	if (irq_hook[irq])
		irq_hook[irq](frame);
	if (irq >= 8)
		port_out(PIC_SLAVE, PIC_END_OF_INTERRUPT);
	port_out(PIC_MASTER, PIC_END_OF_INTERRUPT);
}

static void trap_note(const struct trap_frame *frame)
{
	trap.count++;
	trap.vector = frame->vector;
	trap.error = frame->error;
	trap.eip = frame->eip;
	trap.cs = frame->cs;
	trap.eflags = frame->eflags;
	trap.eax = frame->eax;
	trap.ebx = frame->ebx;
	trap.stack = (uint32_t)(has_error_code(frame->vector) ? &frame->error : &frame->eip);
	trap.flag = irq_enabled();
	if (frame->vector == VECTOR_PF)
		trap.cr2 = cr2_read();
	if ((frame->cs & 3) == 3) {
		trap.esp = frame->esp;
		trap.ss = frame->ss;
	}
}

/* Returns true if ring 3 is left for good. */
bool trap_run(struct trap_frame *frame)
{
	if (frame->vector >= VECTOR_IRQ && frame->vector < TRAP_STUBS) {
		if (frame->vector < VECTOR_MORE)
			irq_run(frame);
		else
			more_hook(frame);
		return false;
	}
	trap_note(frame);
	if ((frame->cs & 3) == 3)
		return user_hook == NULL || !user_hook(frame);
	if (!trap_resume) {
		print("# trap %u, error 0x%x, at 0x%x, cr2 0x%x\n", frame->vector, frame->error,
		      frame->eip, trap.cr2);
		print("FAIL pc: a trap that no test expected\n");
		machine_off(false);
	}
	frame->eip = trap_resume;
	frame->eflags &= ~(uint32_t)EFLAGS_TRAP;
	return false;
}

void user_trap(const char *code)
{
	irq_disable();
	trap.count = 0;
	user_run(code);
}
