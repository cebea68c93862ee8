/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes: messages that stay where the sender put them, linked by their heads.
 */
#include "mailbox.h"

#include "schedule.h"
#include "system.h"

void mailbox_init(void)
{
	for (ID i = 0; i < mailbox_count; i++)
		wait_queue_init(&mailbox_control[i].queue, mailbox_configuration[i].mbxatr);
}

static ER mailbox_find(ID id, struct mailbox **mailbox)
{
	*mailbox = &mailbox_control[id - 1];
	return object_check(id, mailbox_count, mailbox_configuration,
			    sizeof(*mailbox_configuration));
}

static PRI priority_of(T_MSG *message)
{
	return container_of(message, T_MSG_PRI, msgque)->msgpri;
}

/* A message that is not before the last one goes behind it at once, the others cost a
 * comparison for each that is before them. */
static void mailbox_put(struct mailbox *mailbox, T_MSG *message, bool by_priority)
{
	T_MSG **next = mailbox->first ? &mailbox->last->next : &mailbox->first;

	if (by_priority && mailbox->first && priority_of(mailbox->last) > priority_of(message))
		for (next = &mailbox->first; priority_of(*next) <= priority_of(message);)
			next = &(*next)->next;
	else
		mailbox->last = message;
	message->next = mailbox->last == message ? NULL : *next;
	*next = message;
}

ER snd_mbx(ID mbxid, T_MSG *pk_msg)
{
	const struct mailbox_configuration *configuration = &mailbox_configuration[mbxid - 1];
	struct mailbox *mailbox;
	struct task *receiver;
	bool by_priority;
	ER result = call_begin();

	if (result)
		return result;
	result = mailbox_find(mbxid, &mailbox);
	if (result)
		return call_end(result);
	by_priority = configuration->mbxatr & TA_MPRI;
	if (!pk_msg || (by_priority && (priority_of(pk_msg) < TMIN_MPRI ||
					priority_of(pk_msg) > configuration->maxmpri)))
		return call_end(E_PAR);
	receiver = wait_queue_first(&mailbox->queue);
	if (receiver) {
		receiver->outcome.data = pk_msg;
		wait_release(receiver, E_OK);
	} else {
		mailbox_put(mailbox, pk_msg, by_priority);
	}
	return call_end(E_OK);
}

ER rcv_mbx(ID mbxid, T_MSG **ppk_msg)
{
	return trcv_mbx(mbxid, ppk_msg, TMO_FEVR);
}

ER prcv_mbx(ID mbxid, T_MSG **ppk_msg)
{
	return trcv_mbx(mbxid, ppk_msg, TMO_POL);
}

ER trcv_mbx(ID mbxid, T_MSG **ppk_msg, TMO tmout)
{
	struct mailbox *mailbox;
	struct task *self;
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	result = mailbox_find(mbxid, &mailbox);
	if (result)
		return call_end(result);
	if (mailbox->first) {
		*ppk_msg = mailbox->first;
		mailbox->first = mailbox->first->next;
		return call_end(E_OK);
	}
	self = running;
	result = wait_in(&mailbox->queue, tmout);
	if (!result)
		*ppk_msg = self->outcome.data;
	return result;
}
