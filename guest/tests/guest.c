/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the self-checking RTOS guests share; see guest.h.
 */
#include "guest.h"

#include "print.h"

#define ENTRY_SIZE 16
#define EXCEPTIONS 32

extern const char handler_entries[];

void (*interrupt_hook[GANDALF_VECTORS])(struct handler_frame *frame);
volatile uint32_t interrupt_count[GANDALF_VECTORS];
volatile uint32_t interrupt_return_flag = GANDALF_INTERRUPT_FLAG;
volatile struct exception exception;
volatile uint32_t exception_resume;

uint32_t handler_run(struct handler_frame *frame);

/* #DF #TS #NP #SS #GP #PF #AC, which come with an error code. */
static bool has_error_code(uint32_t vector)
{
	return 0x27d00U >> vector & 1;
}

static uint32_t exception_run(struct handler_frame *frame)
{
	exception.count++;
	exception.vector = frame->vector;
	exception.error = frame->error;
	exception.eip = frame->eip;
	exception.cs = frame->cs;
	exception.eflags = frame->eflags;
	exception.esp = (uint32_t)(has_error_code(frame->vector) ? &frame->error : &frame->eip);
	exception.flag = shared_page->interrupt_flag;
	if (!exception_resume) {
		print("# exception %u, error 0x%x, at 0x%x\n", frame->vector, frame->error,
		      frame->eip);
		guest_fail("guest", "an exception that no test expected");
	}
	frame->eip = exception_resume;
	frame->eflags &= ~0x100U; /* the single step is done */
	return 0;
}

uint32_t handler_run(struct handler_frame *frame)
{
	if (frame->vector < EXCEPTIONS)
		return exception_run(frame);
	interrupt_count[frame->vector]++;
	if (interrupt_hook[frame->vector])
		interrupt_hook[frame->vector](frame);
	return interrupt_return_flag;
}

static void install_from(uint32_t first)
{
	static struct gandalf_handlers handlers;

	for (uint32_t i = first; i < GANDALF_VECTORS; i++)
		handlers.entry[i] = (uint32_t)handler_entries + i * ENTRY_SIZE;
	handlers_register(&handlers);
}

void handlers_install(void)
{
	install_from(0);
}

void interrupts_install(void)
{
	install_from(EXCEPTIONS);
}

void time_spin(uint32_t microseconds)
{
	uint64_t start = time_stamp();

	while (time_stamp() - start < time_ticks(microseconds))
		__asm__ volatile("pause");
}

void guest_fail(const char *guest, const char *reason)
{
	print("FAIL %s: %s\n", guest, reason);
	guest_halt();
}
