/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event flags: a bit for each event, and tasks that wait for some or all of several.
 */
#include "eventflag.h"

#include "schedule.h"
#include "system.h"

void eventflag_init(void)
{
	for (ID i = 0; i < eventflag_count; i++) {
		wait_queue_init(&eventflag_control[i].queue, eventflag_configuration[i].flgatr);
		eventflag_control[i].pattern = eventflag_configuration[i].iflgptn;
	}
}

static ER eventflag_find(ID id, struct eventflag **flag)
{
	*flag = &eventflag_control[id - 1];
	return object_check(id, eventflag_count, eventflag_configuration,
			    sizeof(*eventflag_configuration));
}

/* If what is waited for has come: where the pattern goes, and the flag is cleared if it has
 * TA_CLR. */
static bool eventflag_take(struct eventflag *flag, FLGPTN wanted, MODE mode, FLGPTN *pattern)
{
	FLGPTN there = flag->pattern & wanted;

	if (mode == TWF_ORW ? !there : there != wanted)
		return false;
	*pattern = flag->pattern;
	if (eventflag_configuration[flag - eventflag_control].flgatr & TA_CLR)
		flag->pattern = 0;
	return true;
}

/* Goes through all that wait: a cost for each of them, interrupts disabled. */
static ER eventflag_set(ID id, FLGPTN pattern)
{
	struct eventflag *flag;
	struct link *link, *next;
	ER result = eventflag_find(id, &flag);

	if (result)
		return result;
	flag->pattern |= pattern;
	for (link = flag->queue.tasks.next; link != &flag->queue.tasks; link = next) {
		struct task *task = container_of(link, struct task, link);

		next = link->next;
		if (eventflag_take(flag, task->outcome.pattern, task->wait_mode,
				   &task->outcome.pattern))
			wait_release(task, E_OK);
	}
	return E_OK;
}

ER set_flg(ID flgid, FLGPTN setptn)
{
	ER result = call_begin();

	return result ? result : call_end(eventflag_set(flgid, setptn));
}

ER iset_flg(ID flgid, FLGPTN setptn)
{
	ER result = handler_call_begin();

	return result ? result : eventflag_set(flgid, setptn);
}

ER clr_flg(ID flgid, FLGPTN clrptn)
{
	struct eventflag *flag;
	ER result = call_begin();

	if (result)
		return result;
	result = eventflag_find(flgid, &flag);
	if (!result)
		flag->pattern &= clrptn;
	return call_end(result);
}

ER wai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn)
{
	return twai_flg(flgid, waiptn, wfmode, p_flgptn, TMO_FEVR);
}

ER pol_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn)
{
	return twai_flg(flgid, waiptn, wfmode, p_flgptn, TMO_POL);
}

ER twai_flg(ID flgid, FLGPTN waiptn, MODE wfmode, FLGPTN *p_flgptn, TMO tmout)
{
	struct eventflag *flag;
	struct task *self;
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	result = eventflag_find(flgid, &flag);
	if (!result && (!waiptn || wfmode > TWF_ORW))
		result = E_PAR;
	if (!result && !(eventflag_configuration[flgid - 1].flgatr & TA_WMUL) &&
	    wait_queue_first(&flag->queue))
		result = E_ILUSE;
	if (result || eventflag_take(flag, waiptn, wfmode, p_flgptn))
		return call_end(result);
	self = running;
	self->outcome.pattern = waiptn;
	self->wait_mode = wfmode;
	result = wait_in(&flag->queue, tmout);
	if (!result)
		*p_flgptn = self->outcome.pattern;
	return result;
}
