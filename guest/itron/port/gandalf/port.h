/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uITRON on the Gandalf VMM: interrupt flag, timer, idle. The flag is a word in the page that
 * the guest shares with the VMM.
 */
#ifndef PORT_H
#define PORT_H

#include "configuration.h"
#include "context.h"
#include "rtos.h"
#include "task_trace.h"

static inline void interrupts_disable(void)
{
	interrupt_disable();
}

static inline void interrupts_enable(void)
{
	interrupt_enable();
}

/* Interrupts enabled; returns when one has been handled and nothing else should run. */
static inline void port_idle(void)
{
	interrupt_wait();
}

/* The VMM delivers what is meant for the guest, and wants no end of interrupt. */
static inline bool port_interrupt_accept(UINT vector)
{
	(void)vector;
	return true;
}

/* For `gandalf trace`. */
#define port_task_switched(task, function) TASK_SWITCHED(task, function)

/* Milliseconds since the last timer interrupt, in the handler. */
UINT port_timer_ticks(void);

/* Starts the timer and the running task. */
void port_start(void) __attribute__((noreturn));

#endif
