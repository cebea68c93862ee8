/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite of the uITRON kernel: an application that makes every service call in
 * every state that the specification distinguishes, and prints what guest/tests/tap.h describes.
 *
 * The task `main` makes the tests. Helper tasks of a higher, a lower and the same priority execute
 * what main gives them, each a function, and write letters into a trace that shows who ran when.
 * calls.h notes what every call gives, and says what all of them have to give.
 */
#ifndef SUITE_H
#define SUITE_H

#include "calls.h"
#include "configured.h"
#include "kernel_id.h"
#include "tap.h"

/* Adds a letter, or that of the running task; compares the letters since the last comparison. */
void trace(char letter);
void trace_self(void);
bool traced(const char *letters);

/* Activates a dormant helper task to execute a function; or only gives it the function. */
ER start(ID task, void (*work)(void));
void work_set(ID task, void (*work)(void));

/* Activates LOW, ONE, HIGH and TWO, each of which waits before the next is activated. */
void start_all(void (*work)(void));

/* Lets all the others run until they wait. */
void settle(void);

/* The running task, and its letter, which its exinf is, too. */
ID self(void);
char self_letter(void);
SYSTIM now(void);

/* Have a handler execute a function, and return when it has: a cyclic handler, an interrupt
 * handler (interrupt.c), and the handler of a CPU exception. */
void in_handler(void (*work)(void));
void in_interrupt(void (*work)(void));
void in_exception(void (*work)(void));

/* What the last handler of a CPU exception was told. */
extern T_EXCINF exception_noted;

/* Has a cyclic handler execute a function once, in one of the next milliseconds, until it is
 * ended. */
void handler_begin(void (*work)(void));
void handler_end(void);

/* What a task exception routine executes; exception.c. */
extern void (*exception_work)(TEXPTN pattern);

/* The tests, a group in each file. */
extern const struct tap_group start_tests, task_tests, synchronization_tests, exception_tests;
extern const struct tap_group wait_tests, queue_tests, semaphore_tests, eventflag_tests;
extern const struct tap_group dataqueue_tests, mailbox_tests, mempool_tests, time_tests;
extern const struct tap_group system_tests, interrupt_tests;

#endif
