/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uITRON on a bare PC: interrupt flag, idle, and what machine.c does.
 */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>

#include "configuration.h"
#include "context.h"

static inline void interrupts_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
}

static inline void interrupts_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

/* Interrupts enabled; returns when one has been handled and nothing else should run. */
static inline void port_idle(void)
{
	__asm__ volatile("hlt" ::: "memory");
}

/* There is nobody to look. */
#define port_task_switched(task, function) ((void)(task), (void)(function))

/* Ends the interrupt at the 8259s. False: it was a spurious one, or nobody has asked for it. */
bool port_interrupt_accept(UINT vector);

/* The timer tells nothing of those that it could not deliver. */
static inline UINT port_timer_ticks(void)
{
	return 1;
}

/* Starts the timer and the running task. */
void port_start(void) __attribute__((noreturn));

#endif
