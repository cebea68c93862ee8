/* SPDX-License-Identifier: MIT */
/*
 * Sending and receiving through a channel (channel.h), for its two guests: included
 * unchanged by RTOSes and by Linux's driver.
 */
#ifndef GANDALF_CHANNEL_END_H
#define GANDALF_CHANNEL_END_H

#include "channel.h"

/* One guest's end of a channel, in that guest's own memory. */
struct channel_end {
	struct gandalf_channel *channel;
	uint32_t capacity; /* bytes of a ring */
	uint32_t side;
	uint32_t epoch;
};

static inline void channel_open(struct channel_end *end, void *memory,
				const struct gandalf_channel_place *place)
{
	end->channel = (struct gandalf_channel *)memory;
	end->capacity = (place->size - GANDALF_CHANNEL_HEADER) / 2;
	end->side = place->side;
	end->epoch = __atomic_load_n(&end->channel->rings[0].head, __ATOMIC_ACQUIRE) &
		     ~(uint32_t)GANDALF_CHANNEL_POSITION;
}

/*
 * Reads a ring's indices. Returns 0, GANDALF_CHANNEL_RESET if they are of another
 * epoch than this end knew, which it does from then on, or GANDALF_CHANNEL_BROKEN.
 */
static inline int32_t channel_look(struct channel_end *end, const struct gandalf_ring *ring,
				   uint32_t *head, uint32_t *tail)
{
	uint32_t epoch;

	*tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	*head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	epoch = *head & ~(uint32_t)GANDALF_CHANNEL_POSITION;
	if (epoch != end->epoch || epoch != (*tail & ~(uint32_t)GANDALF_CHANNEL_POSITION)) {
		end->epoch = epoch;
		return GANDALF_CHANNEL_RESET;
	}
	*head &= GANDALF_CHANNEL_POSITION;
	*tail &= GANDALF_CHANNEL_POSITION;
	return *head < end->capacity && *tail < end->capacity ? 0 : GANDALF_CHANNEL_BROKEN;
}

/*
 * What channel_receive() would find, or with sends what channel_send() would: bytes, room,
 * or an error, which it will still tell then. For whoever waits or wakes those who do.
 */
static inline int32_t channel_ready(const struct channel_end *end, int sends)
{
	struct channel_end copy = *end;
	uint32_t head, tail;
	int32_t error = channel_look(
		&copy, &copy.channel->rings[sends ? copy.side : 1 - copy.side], &head, &tail);

	if (error)
		return error;
	if (sends)
		return (int32_t)((tail > head ? tail : tail + copy.capacity) - head - 1);
	return (int32_t)((head >= tail ? head : head + copy.capacity) - tail);
}

/* Moves an index, unless a new epoch has begun meanwhile. */
static inline int32_t channel_move(struct channel_end *end, uint32_t *index, uint32_t from,
				   uint32_t size)
{
	uint32_t to = from + size < end->capacity ? from + size : from + size - end->capacity;
	uint32_t expected = end->epoch | from;

	if (__atomic_compare_exchange_n(index, &expected, end->epoch | to, 0, __ATOMIC_RELEASE,
					__ATOMIC_RELAXED))
		return (int32_t)size;
	end->epoch = expected & ~(uint32_t)GANDALF_CHANNEL_POSITION;
	return GANDALF_CHANNEL_RESET;
}

/* Sends what there is room for. Returns the bytes sent, 0 if the ring is full, or
 * an error; with GANDALF_CHANNEL_RESET, nothing of what was sent before arrives. */
static inline int32_t channel_send(struct channel_end *end, const void *from, uint32_t size)
{
	struct gandalf_ring *ring = &end->channel->rings[end->side];
	uint8_t *bytes = (uint8_t *)(end->channel + 1) + end->side * end->capacity;
	uint32_t head, tail, room;
	int32_t error = channel_look(end, ring, &head, &tail);

	if (error)
		return error;
	room = (tail > head ? tail : tail + end->capacity) - head - 1;
	if (size > room)
		size = room;
	for (uint32_t i = 0, at = head; i < size; i++) {
		bytes[at] = ((const uint8_t *)from)[i];
		if (++at == end->capacity)
			at = 0;
	}
	return size ? channel_move(end, &ring->head, head, size) : 0;
}

/* Receives what is there, at most size bytes. Returns how many, or an error; with
 * GANDALF_CHANNEL_RESET, what is received from then on is of the other's new life. */
static inline int32_t channel_receive(struct channel_end *end, void *to, uint32_t size)
{
	struct gandalf_ring *ring = &end->channel->rings[1 - end->side];
	const uint8_t *bytes =
		(const uint8_t *)(end->channel + 1) + (1 - end->side) * end->capacity;
	uint32_t head, tail, full;
	int32_t error = channel_look(end, ring, &head, &tail);

	if (error)
		return error;
	full = (head >= tail ? head : head + end->capacity) - tail;
	if (size > full)
		size = full;
	for (uint32_t i = 0, at = tail; i < size; i++) {
		((uint8_t *)to)[i] = bytes[at];
		if (++at == end->capacity)
			at = 0;
	}
	return size ? channel_move(end, &ring->tail, tail, size) : 0;
}

#endif
