/* SPDX-License-Identifier: Apache-2.0 */
/* Channels for FreeRTOS tasks, which wait for a semaphore that the doorbell gives. */
#include "port_channel.h"

#include <string.h>

#include "network_end.h"

static struct port_channel *channels;

/* Serves the doorbell. The other guest has moved an index, of whichever channel. */
static void port_channel_interrupt(void)
{
	BaseType_t switch_wanted = pdFALSE;

	for (struct port_channel *channel = channels; channel; channel = channel->next) {
		xSemaphoreGiveFromISR(channel->received, &switch_wanted);
		xSemaphoreGiveFromISR(channel->room, &switch_wanted);
	}
	portYIELD_FROM_ISR(switch_wanted);
}

/* Opens a channel. Only rings of those that are opened give semaphores. */
static void port_channel_prepare(struct port_channel *channel,
				 const struct gandalf_channel_place *place)
{
	channel_open(&channel->receiver, (void *)place->address, place);
	channel->sender = channel->receiver;
	channel->peer = place->peer;
	channel->received = xSemaphoreCreateBinaryStatic(&channel->received_storage);
	channel->room = xSemaphoreCreateBinaryStatic(&channel->room_storage);
	channel->next = channels;
	channels = channel;
	vPortSetInterruptHandler(GANDALF_VECTOR_DOORBELL, port_channel_interrupt);
}

/* Returns the first of this guest's channels that is a network or none, and has a name unless that
 * is NULL. */
static const struct gandalf_channel_place *port_place_find(bool network, const char *name)
{
	const struct gandalf_channel_place *place =
		(const struct gandalf_channel_place *)&shared_page->channels[0];
	const struct gandalf_channel_place *end = place + GANDALF_CHANNELS_MAXIMUM;

	for (; place < end && place->name[0]; place++)
		if (network_is(place) == network && (!name || !strcmp(place->name, name)))
			return place;
	return NULL;
}

BaseType_t xPortChannelOpen(struct port_channel *channel, const char *name)
{
	const struct gandalf_channel_place *place = port_place_find(false, name);

	if (!place)
		return pdFALSE;
	port_channel_prepare(channel, place);
	return pdTRUE;
}

const struct gandalf_channel_place *pxPortNetworkOpen(struct port_channel *channel)
{
	const struct gandalf_channel_place *place = port_place_find(true, NULL);

	if (place)
		port_channel_prepare(channel, place);
	return place;
}

/* A ring that comes between the look and the wait has given the semaphore. One that is about
 * something else ends the wait, too, and then the task waits for what is left of the time. */
int32_t lPortChannelReceive(struct port_channel *channel, void *to, uint32_t size,
			    TickType_t wait)
{
	TimeOut_t start;
	int32_t result;

	vTaskSetTimeOutState(&start);
	while ((result = channel_receive(&channel->receiver, to, size)) == 0)
		if (xTaskCheckForTimeOut(&start, &wait) ||
		    xSemaphoreTake(channel->received, wait) != pdTRUE)
			return 0;
	if (result > 0)
		hypercall(GANDALF_HYPERCALL_DOORBELL, channel->peer, 0);
	return result;
}

int32_t lPortChannelSend(struct port_channel *channel, const void *from, uint32_t size,
			 TickType_t wait)
{
	TimeOut_t start;
	int32_t result;

	vTaskSetTimeOutState(&start);
	while ((result = channel_send(&channel->sender, from, size)) == 0)
		if (xTaskCheckForTimeOut(&start, &wait) ||
		    xSemaphoreTake(channel->room, wait) != pdTRUE)
			return 0;
	if (result > 0)
		hypercall(GANDALF_HYPERCALL_DOORBELL, channel->peer, 0);
	return result;
}
