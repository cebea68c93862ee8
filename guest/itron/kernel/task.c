/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task management: activation, end, priority.
 */
#include "task.h"

#include "schedule.h"
#include "system.h"
#include "wait.h"

static _Alignas(TALIGN_STK) UB idle_stack[TMIN_STKSZ];

static void idle_run(void)
{
	for (;;)
		port_idle();
}

static const struct task_configuration idle_configuration = {
	.task = idle_run,
	.itskpri = PRIORITY_IDLE,
	.stksz = sizeof(idle_stack),
	.stk = idle_stack,
};

ER task_find(ID id, struct task **task)
{
	ER result = object_check(id, task_count, task_configuration, sizeof(*task_configuration));

	if (!result)
		*task = &task_control[id];
	return result;
}

ER task_find_or_self(ID id, struct task **task)
{
	*task = running;
	return id == TSK_SELF ? E_OK : task_find(id, task);
}

/* From dormant to ready. Everything but the activation requests begins anew. */
static void task_start(struct task *task)
{
	task->state = TASK_READY;
	task->priority = (UB)task->configuration->itskpri;
	task->wakeups = 0;
	task->suspensions = 0;
	task->exceptions_pending = 0;
	task->exceptions_enabled = false;
	port_task_prepare(task);
	ready_add(task);
}

/* The task is in no queue any more. */
static void task_stop(struct task *task)
{
	task->state = TASK_DORMANT;
	if (task->activations) {
		task->activations--;
		task_start(task);
	}
}

/* A task that has been activated meanwhile begins anew. Its floating-point registers are those that
 * it has ended with, which schedule() would keep, or store over the new ones. */
void task_end(void)
{
	ready_remove(running);
	task_stop(running);
	if (running->state != TASK_DORMANT)
		port_floating_point_switch(NULL, running->floating_point);
	schedule();
}

void task_init(void)
{
	for (ID id = 0; id <= task_count; id++) {
		struct task *task = &task_control[id];

		task->configuration = id ? &task_configuration[id - 1] : &idle_configuration;
		list_init(&task->link);
		timeout_init(&task->timeout, wait_expire);
		if (!id || (task->configuration->tskatr & (CONFIGURATION_GAP | TA_ACT)) == TA_ACT)
			task_start(task);
	}
}

static ER task_activate(struct task *task)
{
	if (task->state == TASK_DORMANT)
		task_start(task);
	else if (task->activations == TMAX_ACTCNT)
		return E_QOVR;
	else
		task->activations++;
	return E_OK;
}

ER act_tsk(ID tskid)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	return call_end(result ? result : task_activate(task));
}

ER iact_tsk(ID tskid)
{
	struct task *task;
	ER result = handler_call_begin();

	if (!result)
		result = task_find(tskid, &task);
	return result ? result : task_activate(task);
}

ER_UINT can_act(ID tskid)
{
	struct task *task;
	ER_UINT result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	if (!result) {
		result = task->activations;
		task->activations = 0;
	}
	return call_end(result);
}

void ext_tsk(void)
{
	if (handler_runs)
		__builtin_trap(); /* there is nothing to end, and nobody to tell */
	interrupts_disable();
	cpu_locked = false;
	dispatch_disabled = false;
	port_exit();
}

static ER task_terminate(struct task *task)
{
	if (task == running)
		return E_ILUSE;
	if (task->state == TASK_DORMANT)
		return E_OBJ;
	if (task->state == TASK_WAITING)
		wait_cancel(task);
	else if (!task->suspensions)
		ready_remove(task);
	task_stop(task);
	return E_OK;
}

ER ter_tsk(ID tskid)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find(tskid, &task);
	return call_end(result ? result : task_terminate(task));
}

static ER task_change_priority(struct task *task, PRI priority)
{
	if (task->state == TASK_DORMANT)
		return E_OBJ;
	if (priority == TPRI_INI)
		priority = task->configuration->itskpri;
	if (task->state == TASK_READY && !task->suspensions) {
		ready_remove(task);
		task->priority = (UB)priority;
		ready_add(task);
		return E_OK;
	}
	task->priority = (UB)priority;
	if (task->state == TASK_WAITING && task->wait == WAIT_OBJECT)
		wait_queue_again(task);
	return E_OK;
}

ER chg_pri(ID tskid, PRI tskpri)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	if (!result && tskpri != TPRI_INI && (tskpri < TMIN_TPRI || tskpri > TMAX_TPRI))
		result = E_PAR;
	return call_end(result ? result : task_change_priority(task, tskpri));
}

ER get_pri(ID tskid, PRI *p_tskpri)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	if (!result && task->state == TASK_DORMANT)
		result = E_OBJ;
	if (!result)
		*p_tskpri = task->priority;
	return call_end(result);
}
