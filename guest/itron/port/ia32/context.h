/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both ports share: the context of a task on IA-32. Each port adds port.h, with the
 * interrupt flag and the timer, and port_asm.h, for context.S.
 */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "itron.h"

struct task;

/* Bytes from one entry in context.S to the next. */
#define CONTEXT_ENTRY_SIZE 8

/* The first context of a task, on its stack. */
void port_task_prepare(struct task *task);

/* Lets the task run that should. The invoking task goes on when it should run again,
 * interrupts enabled. Task context, interrupts disabled. */
void port_dispatch(void);

/* The same, but the invoking task ends: task_end() is called when its stack is left. */
void port_exit(void) __attribute__((noreturn));

/* Goes on with the running task where it was: the end of every dispatch and interrupt. */
void port_restore(void) __attribute__((noreturn));

/* NULL: the task has no floating point. */
void port_floating_point_switch(VP from, VP to);

/* The vectors' entries; called by nobody but the CPU or the VMM. */
extern const char context_entries[];

/* Where a task's function returns to: it calls ext_tsk(). */
void context_task_returned(void);

/* The CPU's state in an interrupted task; context.S draws it. */
struct context;
void context_interrupt(struct context *context);

#endif
