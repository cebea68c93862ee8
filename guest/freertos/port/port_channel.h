/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels (abi/channel_end.h) for FreeRTOS tasks, which wait when they send and receive. One task
 * may send and one receive at the same time.
 */
#ifndef PORT_CHANNEL_H
#define PORT_CHANNEL_H

#include "FreeRTOS.h"
#include "channel_end.h"
#include "semphr.h"

struct port_channel {
	struct channel_end receiver, sender;
	uint32_t peer;
	/* They are given at each ring of the doorbell. */
	SemaphoreHandle_t received, room;
	StaticSemaphore_t received_storage, room_storage;
	struct port_channel *next;
};

/*
 * Opens a channel of this guest, or with NULL its first; no network. It must be called before the
 * scheduler starts. Returns pdFALSE if there is none of that name.
 */
BaseType_t xPortChannelOpen(struct port_channel *channel, const char *name);
/* Opens this guest's first network likewise, and returns its place, or NULL if there is none. Its
 * frames are received and sent with abi/network_end.h; `received` is given at each ring. */
const struct gandalf_channel_place *pxPortNetworkOpen(struct port_channel *channel);

/*
 * Receives at least one byte, and at most size. Returns how many came, 0 when the time is over,
 * GANDALF_CHANNEL_RESET once after the other guest has started or stopped, or
 * GANDALF_CHANNEL_BROKEN.
 */
int32_t lPortChannelReceive(struct port_channel *channel, void *to, uint32_t size,
			    TickType_t wait);
/* Sends bytes likewise. */
int32_t lPortChannelSend(struct port_channel *channel, const void *from, uint32_t size,
			 TickType_t wait);

#endif
