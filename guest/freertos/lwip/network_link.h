/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This guest's end of a network (abi/network_end.h) over all lives of the two guests: it says in
 * each epoch that it receives, and whether the other does, too. Nothing here waits or knows a
 * kernel, so that the host's tests compile it as it is.
 *
 * The other guest may write anything into the shared memory. Each function looks at it a fixed
 * number of times.
 */
#ifndef NETWORK_LINK_H
#define NETWORK_LINK_H

#include <stdbool.h>

#include "network_end.h"

struct network_link {
	struct channel_end receiver, sender;
	bool broken; /* what the other side has last written cannot be */
	bool full;   /* a frame had no room, and there has been none since */
	/* What has been done since the other guest was last to be rung. */
	bool sent, received, announced;
};

/* Begins to receive. end has been opened (channel_open()). */
void network_link_start(struct network_link *link, const struct channel_end *end);

/* Copies the next frame to a place for GANDALF_NETWORK_FRAME bytes. Returns its size, or 0 if there
 * is none. */
uint32_t network_link_receive(struct network_link *link, uint8_t *to);

/* Sends a frame of GANDALF_NETWORK_HEADER to GANDALF_NETWORK_FRAME bytes. Returns false if it is
 * lost: there is no room, for which the other side is asked to ring, or the ring is broken. */
bool network_link_send(struct network_link *link, const uint8_t *from, uint32_t size);

/* Returns true once when there is room after a frame has had none. */
bool network_link_emptied(struct network_link *link);

/* Asks the other side to ring when it has sent. The caller looks once more before it waits. */
void network_link_want(struct network_link *link);

/* Returns whether to ring the other guest: it has asked for what has been done meanwhile. Each
 * request is answered once, so the caller rings behind all that it has sent and received. */
bool network_link_rings(struct network_link *link);

/* Returns whether the other side receives. */
bool network_link_carrier(const struct network_link *link);

#endif
