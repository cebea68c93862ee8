/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks. The control block of ID 0 is the idle task's, which runs when no other does; since
 * 0 is also TSK_NONE, nobody has to ask whether there is a running task.
 */
#ifndef TASK_H
#define TASK_H

#include "configuration.h"
#include "list.h"
#include "time.h"

enum task_state {
	TASK_DORMANT,
	TASK_READY, /* or running; only if not suspended */
	TASK_WAITING,
};

enum task_wait {
	WAIT_SLEEP,
	WAIT_DELAY,
	WAIT_OBJECT, /* in the queue of an object */
};

struct wait_queue;

/* What the end of its waiting gives a task. The call that has waited reads it when the task runs
 * again, which is after its task exception routine. */
struct task_outcome {
	ER result;
	VP_INT data; /* what is handed over to it; while it waits, what it sends */
	FLGPTN pattern; /* while it waits, what it waits for */
};

struct task {
	VP stack;	  /* stack pointer while it does not run; context.S has the offset */
	VP floating_point; /* where its x87 and SSE registers are kept; NULL: it has none */
	struct link link; /* ready queue or wait queue */
	const struct task_configuration *configuration;
	struct timeout timeout;
	struct wait_queue *queue; /* with WAIT_OBJECT: the one that it is in */
	struct task_outcome outcome;
	MODE wait_mode;
	TEXPTN exceptions_pending;
	UB state;
	UB wait;
	UB priority;
	UB activations, wakeups, suspensions; /* requests counted */
	bool exceptions_enabled;
};

extern struct task task_control[];
extern const ID task_count;

static inline ID task_id(const struct task *task)
{
	return (ID)(task - task_control);
}

/* E_OK and the task, or E_ID or E_NOEXS. */
ER task_find(ID id, struct task **task);

/* The same, but TSK_SELF is the running task. */
ER task_find_or_self(ID id, struct task **task);

void task_init(void);

/* The running task has left its stack: makes it dormant, or starts it again. */
void task_end(void);

#endif
