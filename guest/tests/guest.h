/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the self-checking RTOS guests share: handlers for all vectors, counters
 * for interrupts, and a way to provoke an exception and look at its frame.
 */
#ifndef GUEST_H
#define GUEST_H

#include "cpu.h"
#include "emulator.h"
#include "rtos.h"
#include "tap.h"

/* As handler.S leaves it on the stack. */
struct handler_frame {
	uint32_t edi, esi, ebp, esp, ebx, edx, ecx, eax;
	uint32_t es, ds;
	uint32_t vector, error;
	uint32_t eip, cs, eflags;
};

/* Return the selectors that the guest starts with: the ABI's, with the ring that it is in. */
static inline uint32_t own_code(void)
{
	return (GANDALF_RTOS_CODE & ~3U) | cpu_ring();
}

static inline uint32_t own_data(void)
{
	return (GANDALF_RTOS_DATA & ~3U) | cpu_ring();
}

/* Registers a handler for every vector, or for those that are no exceptions. */
void handlers_install(void);
void interrupts_install(void);

/* Called by every interrupt's handler; NULL: nothing but the count. */
extern void (*interrupt_hook[GANDALF_VECTORS])(struct handler_frame *frame);
extern volatile uint32_t interrupt_count[GANDALF_VECTORS];
/* With what an interrupt's handler returns; GANDALF_INTERRUPT_FLAG. */
extern volatile uint32_t interrupt_return_flag;

/* The last exception that EXCEPTION_PROVOKE() provoked. */
struct exception {
	uint32_t count; /* since the last EXCEPTION_PROVOKE() */
	uint32_t vector, error, eip, cs, eflags;
	uint32_t esp;  /* where the CPU's frame began: the error code or EIP */
	uint32_t flag; /* the interrupt flag in the handler */
};
extern volatile struct exception exception;
extern volatile uint32_t exception_resume;

/*
 * Executes the text of instructions, in which 9: labels the one that is to fault,
 * and goes on behind it after the first exception. Operands follow.
 * An exception anywhere else fails the guest.
 */
#define EXCEPTION_PROVOKE(text, ...) \
	do { \
		exception.count = 0; \
		__asm__ volatile("movl $1f, exception_resume\n" text "\n1:\n\t" \
				 "movl $0, exception_resume" __VA_ARGS__); \
	} while (0)

/* Microseconds of the time stamp counter, without halting. */
void time_spin(uint32_t microseconds);

/* Prints the verdict of a guest that cannot go on, and halts. */
void __attribute__((noreturn)) guest_fail(const char *guest, const char *reason);

#endif
