/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task exceptions: what one task wants another to look at when that runs next. CPU exceptions
 * are in interrupt.c.
 */
#include "exception.h"

#include "schedule.h"
#include "system.h"

void exception_deliver(void)
{
	struct task *self = running;

	while (self->exceptions_enabled && self->exceptions_pending && !cpu_locked) {
		/* The routine may wait, too. */
		struct task_outcome outcome = self->outcome;
		TEXPTN pattern = self->exceptions_pending;

		self->exceptions_pending = 0;
		self->exceptions_enabled = false;
		interrupts_enable();
		((void (*)(TEXPTN, VP_INT))self->configuration->texrtn)(
			pattern, self->configuration->exinf);
		unl_cpu(); /* if it has left it locked */
		interrupts_disable();
		self->outcome = outcome;
		self->exceptions_enabled = true;
	}
}

static ER exception_raise(struct task *task, TEXPTN pattern)
{
	if (task->state == TASK_DORMANT || !task->configuration->texrtn)
		return E_OBJ;
	task->exceptions_pending |= pattern;
	return E_OK;
}

ER ras_tex(ID tskid, TEXPTN rasptn)
{
	struct task *task;
	ER result = call_begin();

	if (result)
		return result;
	result = task_find_or_self(tskid, &task);
	if (!result)
		result = rasptn ? exception_raise(task, rasptn) : E_PAR;
	exception_deliver();
	return call_end(result);
}

ER iras_tex(ID tskid, TEXPTN rasptn)
{
	struct task *task;
	ER result = handler_call_begin();

	if (!result)
		result = task_find(tskid, &task);
	if (result)
		return result;
	return rasptn ? exception_raise(task, rasptn) : E_PAR;
}

static ER exception_enable(bool enable)
{
	ER result = call_begin();

	if (result)
		return result;
	if (!running->configuration->texrtn)
		return call_end(E_OBJ);
	running->exceptions_enabled = enable;
	exception_deliver();
	return call_end(E_OK);
}

ER dis_tex(void)
{
	return exception_enable(false);
}

ER ena_tex(void)
{
	return exception_enable(true);
}

BOOL sns_tex(void)
{
	return !running->exceptions_enabled;
}
