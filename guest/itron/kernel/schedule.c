/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ready queue and the service calls that look at it.
 */
#include "schedule.h"

#include "system.h"

struct task *running;

static struct link ready[PRIORITY_IDLE + 1];
static UW ready_priorities; /* bit n: ready[n] is not empty */

void ready_init(void)
{
	for (PRI priority = 0; priority <= PRIORITY_IDLE; priority++)
		list_init(&ready[priority]);
}

void ready_add(struct task *task)
{
	list_add(&ready[task->priority], &task->link);
	ready_priorities |= 1U << task->priority;
}

void ready_remove(struct task *task)
{
	list_remove(&task->link);
	if (list_empty(&ready[task->priority]))
		ready_priorities &= ~(1U << task->priority);
}

struct task *ready_first(void)
{
	/* Never 0: the idle task is always ready. */
	return container_of(ready[__builtin_ctz(ready_priorities)].next, struct task, link);
}

void schedule(void)
{
	struct task *next = ready_first();

	if (next == running || cpu_locked || dispatch_disabled)
		return;
	port_floating_point_switch(running->floating_point, next->floating_point);
	running = next;
	port_task_switched(task_id(next), next->configuration->task);
}

static ER ready_rotate(PRI priority)
{
	struct link *first;

	if (priority < TMIN_TPRI || priority > TMAX_TPRI)
		return E_PAR;
	first = ready[priority].next;
	if (first != &ready[priority]) {
		list_remove(first);
		list_add(&ready[priority], first);
	}
	return E_OK;
}

ER rot_rdq(PRI tskpri)
{
	ER result = call_begin();

	if (result)
		return result;
	return call_end(ready_rotate(tskpri == TPRI_SELF ? running->priority : tskpri));
}

ER irot_rdq(PRI tskpri)
{
	ER result = handler_call_begin();

	return result ? result : ready_rotate(tskpri);
}

ER get_tid(ID *p_tskid)
{
	ER result = call_begin();

	if (result)
		return result;
	*p_tskid = task_id(running);
	return call_end(E_OK);
}

ER iget_tid(ID *p_tskid)
{
	ER result = handler_call_begin();

	if (!result)
		*p_tskid = task_id(running);
	return result;
}
