/* SPDX-License-Identifier: Apache-2.0 */
/* An end of a network over all lives of its two guests. See network_link.h. */
#include "network_link.h"

void network_link_start(struct network_link *link, const struct channel_end *end)
{
	*link = (struct network_link){ .receiver = *end, .sender = *end, .announced = true };
	network_announce(&link->receiver, 1);
}

/* Receives a frame. Returns its size, 0 if there is none, or an error of network_peek(), of which
 * GANDALF_CHANNEL_RESET is worth another look. */
static int32_t network_link_look(struct network_link *link, uint8_t *to)
{
	struct network_frame frame = { 0 };
	uint32_t epoch = link->receiver.epoch;
	int32_t result = network_peek(&link->receiver, &frame);

	if (result > 0) {
		channel_copy(to, frame.bytes, frame.size);
		result = network_take(&link->receiver, &frame);
		if (result > 0) {
			result = (int32_t)frame.size;
			link->received = true;
		}
	}
	/* The other side may write another epoch to one index, which begins none. */
	if (result == GANDALF_CHANNEL_RESET && link->receiver.epoch != epoch) {
		network_announce(&link->receiver, 1);
		link->announced = true;
	}
	link->broken = result == GANDALF_CHANNEL_BROKEN;
	return result;
}

/* Frames of a new epoch may have come before this side has asked for a ring, so they are looked for
 * at once. */
uint32_t network_link_receive(struct network_link *link, uint8_t *to)
{
	int32_t result = network_link_look(link, to);

	if (result == GANDALF_CHANNEL_RESET)
		result = network_link_look(link, to);
	return result > 0 ? (uint32_t)result : 0;
}

/* Sends a frame, in the new epoch if one has begun. Returns what network_send() does. */
static int32_t network_link_put(struct network_link *link, const uint8_t *from, uint32_t size)
{
	int32_t result = network_send(&link->sender, from, size);

	if (result == GANDALF_CHANNEL_RESET)
		result = network_send(&link->sender, from, size);
	if (result > 0)
		link->sent = true;
	return result;
}

bool network_link_send(struct network_link *link, const uint8_t *from, uint32_t size)
{
	int32_t result = network_link_put(link, from, size);

	if (result != 0)
		return result > 0;
	/* Room that there is by now will not be rung for. */
	network_want(&link->sender, 1);
	result = network_link_put(link, from, size);
	link->full = result == 0;
	return result > 0;
}

bool network_link_emptied(struct network_link *link)
{
	/* After an error there is either a new ring, or none that is worth to wait for. */
	if (!link->full || network_has_room(&link->sender) == 0)
		return false;
	link->full = false;
	return true;
}

void network_link_want(struct network_link *link)
{
	network_want(&link->receiver, 0);
}

bool network_link_rings(struct network_link *link)
{
	bool rings = link->announced;

	if (link->sent && network_rings(&link->sender, 0))
		rings = true;
	if (link->received && network_rings(&link->receiver, 1))
		rings = true;
	link->sent = link->received = link->announced = false;
	return rings;
}

bool network_link_carrier(const struct network_link *link)
{
	return !link->broken && network_peer_alive(&link->receiver);
}
