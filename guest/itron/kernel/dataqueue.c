/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data queues: words from task to task, in a ring that may have no room at all, whereupon
 * sender and receiver meet.
 */
#include "dataqueue.h"

#include "schedule.h"
#include "system.h"

void dataqueue_init(void)
{
	for (ID i = 0; i < dataqueue_count; i++) {
		wait_queue_init(&dataqueue_control[i].senders, dataqueue_configuration[i].dtqatr);
		wait_queue_init(&dataqueue_control[i].receivers, TA_TFIFO);
	}
}

static ER dataqueue_find(ID id, struct dataqueue **queue)
{
	*queue = &dataqueue_control[id - 1];
	return object_check(id, dataqueue_count, dataqueue_configuration,
			    sizeof(*dataqueue_configuration));
}

static const struct dataqueue_configuration *configuration_of(const struct dataqueue *queue)
{
	return &dataqueue_configuration[queue - dataqueue_control];
}

/* There is room. */
static void dataqueue_put(struct dataqueue *queue, VP_INT data)
{
	UINT size = configuration_of(queue)->dtqcnt, index = queue->first + queue->count++;

	configuration_of(queue)->dtq[index < size ? index : index - size] = data;
}

/* There is an element. */
static VP_INT dataqueue_take(struct dataqueue *queue)
{
	VP_INT data = configuration_of(queue)->dtq[queue->first];

	queue->count--;
	if (++queue->first == configuration_of(queue)->dtqcnt)
		queue->first = 0;
	return data;
}

/* To a receiver or into the ring, if there is one or there is room. */
static bool dataqueue_send(struct dataqueue *queue, VP_INT data)
{
	struct task *receiver = wait_queue_first(&queue->receivers);

	if (receiver) {
		receiver->outcome.data = data;
		wait_release(receiver, E_OK);
	} else if (queue->count < configuration_of(queue)->dtqcnt) {
		dataqueue_put(queue, data);
	} else {
		return false;
	}
	return true;
}

static bool dataqueue_receive(struct dataqueue *queue, VP_INT *data)
{
	struct task *sender = wait_queue_first(&queue->senders);

	if (queue->count) {
		*data = dataqueue_take(queue);
		if (sender)
			dataqueue_put(queue, sender->outcome.data);
	} else if (sender) {
		*data = sender->outcome.data;
	} else {
		return false;
	}
	if (sender)
		wait_release(sender, E_OK);
	return true;
}

ER snd_dtq(ID dtqid, VP_INT data)
{
	return tsnd_dtq(dtqid, data, TMO_FEVR);
}

ER psnd_dtq(ID dtqid, VP_INT data)
{
	return tsnd_dtq(dtqid, data, TMO_POL);
}

ER ipsnd_dtq(ID dtqid, VP_INT data)
{
	struct dataqueue *queue;
	ER result = handler_call_begin();

	if (!result)
		result = dataqueue_find(dtqid, &queue);
	if (!result && !dataqueue_send(queue, data))
		result = E_TMOUT;
	return result;
}

ER tsnd_dtq(ID dtqid, VP_INT data, TMO tmout)
{
	struct dataqueue *queue;
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	result = dataqueue_find(dtqid, &queue);
	if (result || dataqueue_send(queue, data))
		return call_end(result);
	running->outcome.data = data;
	return wait_in(&queue->senders, tmout);
}

/* The oldest element makes room. */
static ER dataqueue_force(ID id, VP_INT data)
{
	struct dataqueue *queue;
	ER result = dataqueue_find(id, &queue);

	if (result)
		return result;
	if (!configuration_of(queue)->dtqcnt)
		return E_ILUSE;
	if (!dataqueue_send(queue, data)) {
		dataqueue_take(queue);
		dataqueue_put(queue, data);
	}
	return E_OK;
}

ER fsnd_dtq(ID dtqid, VP_INT data)
{
	ER result = call_begin();

	return result ? result : call_end(dataqueue_force(dtqid, data));
}

ER ifsnd_dtq(ID dtqid, VP_INT data)
{
	ER result = handler_call_begin();

	return result ? result : dataqueue_force(dtqid, data);
}

ER rcv_dtq(ID dtqid, VP_INT *p_data)
{
	return trcv_dtq(dtqid, p_data, TMO_FEVR);
}

ER prcv_dtq(ID dtqid, VP_INT *p_data)
{
	return trcv_dtq(dtqid, p_data, TMO_POL);
}

ER trcv_dtq(ID dtqid, VP_INT *p_data, TMO tmout)
{
	struct dataqueue *queue;
	struct task *self;
	ER result = wait_call_begin(tmout);

	if (result)
		return result;
	result = dataqueue_find(dtqid, &queue);
	if (result || dataqueue_receive(queue, p_data))
		return call_end(result);
	self = running;
	result = wait_in(&queue->receivers, tmout);
	if (!result)
		*p_data = self->outcome.data;
	return result;
}
