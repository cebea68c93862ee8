/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a small RTOS guest is built on: the hypercalls of abi/gandalf.h as C
 * functions, the shared page, the interrupt flag and the time stamp counter.
 * FreeRTOS's port and the self-checking guests use it.
 */
#ifndef RTOS_H
#define RTOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"
#include "gandalf.h"

/* The shared page, the last page of the guest's memory. It is set before main() runs. */
extern volatile struct gandalf_shared *shared_page;

/* The guest's program. It starts with the interrupt flag 0. If it returns, the
 * guest waits for interrupts for ever. */
void main(void);

/* Makes a hypercall with up to two arguments. Returns what the VMM returns: mostly 0
 * or a negative error (gandalf.h). */
static inline int32_t hypercall(uint32_t number, uint32_t first, uint32_t second)
{
	int32_t result;

	__asm__ volatile("int %1"
			 : "=a"(result)
			 : "i"(GANDALF_HYPERCALL_VECTOR), "a"(number), "b"(first), "c"(second)
			 : "memory");
	return result;
}

static inline void interrupt_disable(void)
{
	shared_page->interrupt_flag = 0;
	__asm__ volatile("" ::: "memory");
}

/* Sets the flag, and has the VMM deliver what waits. The store must come before the
 * test: the VMM itself delivers an interrupt that comes between them, so none is left
 * behind. */
static inline void interrupt_enable(void)
{
	__asm__ volatile("" ::: "memory");
	shared_page->interrupt_flag = GANDALF_INTERRUPT_FLAG;
	if (shared_page->pending)
		hypercall(GANDALF_HYPERCALL_INTERRUPT_FLAG, GANDALF_INTERRUPT_FLAG, 0);
}

/* Sets the flag, and waits until an interrupt has been handled. */
static inline void interrupt_wait(void)
{
	hypercall(GANDALF_HYPERCALL_HALT, 0, 0);
}

/* Starts the periodic timer; period is in microseconds, GANDALF_TIMER_MINIMUM to
 * 1,000,000, or 0 to stop it. Returns 0 or GANDALF_ERROR_ARGUMENT. */
static inline int32_t timer_start(uint32_t period)
{
	return hypercall(GANDALF_HYPERCALL_TIMER, period, 0);
}

/* Tells the VMM the guest's handlers, which it copies. */
static inline void handlers_register(const struct gandalf_handlers *handlers)
{
	hypercall(GANDALF_HYPERCALL_HANDLERS, (uint32_t)handlers, 0);
}

/* Returns how many ticks of the time stamp counter some microseconds take. The result
 * must be below 2^32, which is a second at 4 GHz. */
static inline uint32_t time_ticks(uint32_t microseconds)
{
	uint32_t khz = shared_page->tsc_khz;

	return khz / 1000 * microseconds + khz % 1000 * microseconds / 1000;
}

/* Reads what was typed, at most GANDALF_CONSOLE_CHUNK bytes. Returns how many. */
static inline size_t console_read(char *to, size_t size)
{
	return (size_t)hypercall(GANDALF_HYPERCALL_CONSOLE_READ, (uint32_t)to, size);
}

/* Is called while the console is full. It is console_spin(), unless a guest with a
 * scheduler replaces it by a function that sleeps. */
extern void (*console_wait)(void);
void console_spin(void);

/* Stops the timer, and waits for ever; other interrupts are still handled. */
void __attribute__((noreturn)) guest_halt(void);

#endif
