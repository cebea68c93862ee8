/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which task runs: the ready queue, a ring for each priority and a bitmap of those that are
 * not empty, so that finding the next task takes the same time however many are ready.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "task.h"

/* One below every priority that a task can have. */
#define PRIORITY_IDLE (TMAX_TPRI + 1)

/* The task that runs, or that the handler interrupted. */
extern struct task *running;

/* ready_add() puts it behind all others of its priority. Interrupts disabled, like below. */
void ready_init(void);
void ready_add(struct task *task);
void ready_remove(struct task *task);

/* The task that should run. */
struct task *ready_first(void);

/* Makes running the task that should run, unless dispatching is disabled. Called by the
 * port, which has saved the context of the one and restores that of the other. */
void schedule(void);

#endif
