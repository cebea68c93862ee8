/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting: the queues of the objects, and what begins and ends a task's waiting.
 */
#ifndef WAIT_H
#define WAIT_H

#include "task.h"

struct wait_queue {
	struct link tasks;
	bool by_priority;
};

/* attributes: with TA_TPRI or without. */
void wait_queue_init(struct wait_queue *queue, ATR attributes);

/* The task that is to be released first, or NULL. */
struct task *wait_queue_first(const struct wait_queue *queue);

/* The task's priority has changed: it takes the place in its queue that it would get now. */
void wait_queue_again(struct task *task);

/*
 * The running task, inside of a call that wait_call_begin() began, waits in a queue until
 * wait_release(), and the call ends: returns its result, interrupts enabled. With TMO_POL that is
 * E_TMOUT at once.
 */
ER wait_in(struct wait_queue *queue, TMO timeout);

/* Ends a task's waiting: the call that it is in returns the result. Interrupts disabled. */
void wait_release(struct task *task, ER result);

/* Takes a waiting task out of everything that it waits for. */
void wait_cancel(struct task *task);

/* The time-out of a task. */
void wait_expire(struct timeout *timeout);

#endif
