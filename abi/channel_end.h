/* SPDX-License-Identifier: MIT */
/*
 * The functions by which a guest sends and receives through a channel (channel.h). RTOSes and
 * Linux's driver include this file unchanged.
 */
#ifndef GANDALF_CHANNEL_END_H
#define GANDALF_CHANNEL_END_H

#include "channel.h"

/* One guest's end of a channel. It lies in that guest's own memory: the peer cannot change it. */
struct channel_end {
	struct gandalf_channel *channel;
	uint32_t capacity; /* bytes of a ring, of which one stays free */
	uint32_t side;     /* 0 or 1: the ring by which this end sends */
	uint32_t epoch;    /* the epoch that this end knows, as the upper bits of an index */
};

/* Prepares an end for a channel whose memory this guest sees at memory. */
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
 * Reads the positions of a ring. Returns 0, or GANDALF_CHANNEL_RESET if the indices are of another
 * epoch than this end knew; it knows the new one from then on. Returns GANDALF_CHANNEL_BROKEN if a
 * position lies outside the ring.
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
 * Returns the bytes that channel_receive() could get now, or if sends is not 0, the bytes that
 * channel_send() has room for. Returns an error of channel_look() instead if there is one; it
 * changes nothing, so the next call of the other two returns the error, too. Guests use
 * it to decide whether to wait and whom to wake.
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

/* Copies by words, since a byte at a time takes four times the instructions. */
static inline void channel_copy(void *to, const void *from, uint32_t size)
{
	unsigned long words = size / 4, bytes = size % 4;

	__asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

/* Moves an index on by size bytes. Returns size, or GANDALF_CHANNEL_RESET if the index has changed
 * meanwhile, since the VMM has begun a new epoch. */
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

/* Sends as many of size bytes as there is room for. Returns how many, 0 if the ring is full, or an
 * error. After GANDALF_CHANNEL_RESET, bytes sent before that the peer has not received are lost. */
static inline int32_t channel_send(struct channel_end *end, const void *from, uint32_t size)
{
	struct gandalf_ring *ring = &end->channel->rings[end->side];
	uint8_t *bytes = (uint8_t *)(end->channel + 1) + end->side * end->capacity;
	uint32_t head, tail, room, first;
	int32_t error = channel_look(end, ring, &head, &tail);

	if (error)
		return error;
	room = (tail > head ? tail : tail + end->capacity) - head - 1;
	if (size > room)
		size = room;
	first = end->capacity - head;
	if (first > size)
		first = size;
	channel_copy(bytes + head, from, first);
	channel_copy(bytes, (const uint8_t *)from + first, size - first);
	return size ? channel_move(end, &ring->head, head, size) : 0;
}

/* Receives at most size bytes. Returns how many, 0 if the ring is empty, or an error. After
 * GANDALF_CHANNEL_RESET, bytes come from the new life of whichever guest has started again. */
static inline int32_t channel_receive(struct channel_end *end, void *to, uint32_t size)
{
	struct gandalf_ring *ring = &end->channel->rings[1 - end->side];
	const uint8_t *bytes =
		(const uint8_t *)(end->channel + 1) + (1 - end->side) * end->capacity;
	uint32_t head, tail, full, first;
	int32_t error = channel_look(end, ring, &head, &tail);

	if (error)
		return error;
	full = (head >= tail ? head : head + end->capacity) - tail;
	if (size > full)
		size = full;
	first = end->capacity - tail;
	if (first > size)
		first = size;
	channel_copy(to, bytes + tail, first);
	channel_copy((uint8_t *)to + first, bytes, size - first);
	return size ? channel_move(end, &ring->tail, tail, size) : 0;
}

#endif
