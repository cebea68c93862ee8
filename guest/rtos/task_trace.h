/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which task of an RTOS ran when, for `gandalf trace`, which finds these variables by their
 * names in the image and reads them from outside; it also sets task_trace_on. Until then a
 * switch costs two instructions more, afterwards about 25 in all.
 */
#ifndef TASK_TRACE_H
#define TASK_TRACE_H

#include <stdint.h>

#define TASK_SWITCHES 256 /* a power of two */

/* A choice of the scheduler: from this time on the task runs. */
struct task_switch {
	uint64_t time; /* time stamp counter */
	uint32_t task; /* a number that no other task has */
	uint32_t name; /* address of a string, or of the task's function */
};

extern uint32_t task_trace_on;
extern struct task_switch task_switches[TASK_SWITCHES];
/* The number of switches so far. Modulo TASK_SWITCHES it is the place of the next one. */
extern uint32_t task_switches_next;

/* Records that a task was chosen. Interrupts must be disabled. */
void task_switch_record(uint32_t task, uint32_t name);

/* It is a macro, so that its arguments cost nothing while tracing is off. */
#define TASK_SWITCHED(task, name) \
	do { \
		if (__builtin_expect(task_trace_on != 0, 0)) \
			task_switch_record((uint32_t)(task), (uint32_t)(name)); \
	} while (0)

#endif
