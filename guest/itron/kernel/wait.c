/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting, and the service calls that make tasks wait for nothing but each other and time:
 * sleep, delay, suspension, forced release.
 */
#include "wait.h"

#include "schedule.h"
#include "system.h"

void wait_queue_init(struct wait_queue *queue, ATR attributes)
{
	list_init(&queue->tasks);
	queue->by_priority = attributes & TA_TPRI;
}

struct task *wait_queue_first(const struct wait_queue *queue)
{
	if (list_empty(&queue->tasks))
		return NULL;
	return container_of(queue->tasks.next, struct task, link);
}

static void wait_queue_add(struct wait_queue *queue, struct task *task)
{
	struct link *next = &queue->tasks;

	if (queue->by_priority)
		for (next = next->next; next != &queue->tasks; next = next->next)
			if (container_of(next, struct task, link)->priority > task->priority)
				break;
	list_add(next, &task->link);
	task->queue = queue;
}

void wait_queue_again(struct task *task)
{
	if (!task->queue->by_priority)
		return;
	list_remove(&task->link);
	wait_queue_add(task->queue, task);
}

/* The running task is in no queue afterwards but perhaps that of the time-outs. */
static void wait_start(enum task_wait wait, TMO timeout)
{
	ready_remove(running);
	running->state = TASK_WAITING;
	running->wait = (UB)wait;
	if (timeout != TMO_FEVR)
		timeout_start(&running->timeout, (RELTIM)timeout);
}

/* Lets others run until the wait that has been started ends. */
static ER wait_finish(void)
{
	struct task *self = running;

	port_dispatch();
	return self->outcome.result;
}

ER wait_in(struct wait_queue *queue, TMO timeout)
{
	if (timeout == TMO_POL)
		return call_end(E_TMOUT);
	wait_start(WAIT_OBJECT, timeout);
	wait_queue_add(queue, running);
	return wait_finish();
}

void wait_cancel(struct task *task)
{
	timeout_stop(&task->timeout);
	list_remove(&task->link);
}

void wait_release(struct task *task, ER result)
{
	wait_cancel(task);
	task->outcome.result = result;
	task->state = TASK_READY;
	if (!task->suspensions)
		ready_add(task);
}

void wait_expire(struct timeout *timeout)
{
	struct task *task = container_of(timeout, struct task, timeout);

	wait_release(task, task->wait == WAIT_DELAY ? E_OK : E_TMOUT);
}

ER slp_tsk(void)
{
	return tslp_tsk(TMO_FEVR);
}

ER tslp_tsk(TMO tmout)
{
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	if (running->wakeups) {
		running->wakeups--;
		return call_end(E_OK);
	}
	if (tmout == TMO_POL)
		return call_end(E_TMOUT);
	wait_start(WAIT_SLEEP, tmout);
	return wait_finish();
}

ER dly_tsk(RELTIM dlytim)
{
	ER result = wait_call_begin(TMO_FEVR);

	if (result)
		return result;
	if (dlytim > TMAX_RELTIM)
		return call_end(E_PAR);
	wait_start(WAIT_DELAY, (TMO)dlytim);
	return wait_finish();
}

static ER task_wake_up(struct task *task)
{
	if (task->state == TASK_DORMANT)
		return E_OBJ;
	if (task->state == TASK_WAITING && task->wait == WAIT_SLEEP)
		wait_release(task, E_OK);
	else if (task->wakeups == TMAX_WUPCNT)
		return E_QOVR;
	else
		task->wakeups++;
	return E_OK;
}

ER wup_tsk(ID tskid)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	return call_end(result ? result : task_wake_up(task));
}

ER iwup_tsk(ID tskid)
{
	struct task *task;
	ER result = handler_call_begin();

	if (!result)
		result = task_find(tskid, &task);
	return result ? result : task_wake_up(task);
}

ER_UINT can_wup(ID tskid)
{
	struct task *task;
	ER_UINT result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	if (!result && task->state == TASK_DORMANT)
		result = E_OBJ;
	if (!result) {
		result = task->wakeups;
		task->wakeups = 0;
	}
	return call_end(result);
}

static ER task_release(struct task *task)
{
	if (task->state != TASK_WAITING)
		return E_OBJ;
	wait_release(task, E_RLWAI);
	return E_OK;
}

ER rel_wai(ID tskid)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find(tskid, &task);
	return call_end(result ? result : task_release(task));
}

ER irel_wai(ID tskid)
{
	struct task *task;
	ER result = handler_call_begin();

	if (!result)
		result = task_find(tskid, &task);
	return result ? result : task_release(task);
}

static ER task_suspend(struct task *task)
{
	if (task == running && dispatch_disabled)
		return E_CTX;
	if (task->state == TASK_DORMANT)
		return E_OBJ;
	if (task->suspensions == TMAX_SUSCNT)
		return E_QOVR;
	if (!task->suspensions && task->state == TASK_READY)
		ready_remove(task);
	task->suspensions++;
	return E_OK;
}

ER sus_tsk(ID tskid)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	return call_end(result ? result : task_suspend(task));
}

/* Takes one suspension back, or all. */
static ER task_resume(ID id, bool all)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find(id, &task);
	if (result)
		return call_end(result);
	if (task->state == TASK_DORMANT || !task->suspensions)
		return call_end(E_OBJ);
	task->suspensions = all ? 0 : (UB)(task->suspensions - 1);
	if (!task->suspensions && task->state == TASK_READY)
		ready_add(task);
	return call_end(E_OK);
}

ER rsm_tsk(ID tskid)
{
	return task_resume(tskid, false);
}

ER frsm_tsk(ID tskid)
{
	return task_resume(tskid, true);
}
