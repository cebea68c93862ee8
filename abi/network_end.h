/* SPDX-License-Identifier: MIT */
/*
 * The functions by which a guest sends and receives the frames of a network (network.h). RTOSes and
 * Linux's driver include this file unchanged. The other side may write anything into the shared
 * memory at any time: each word is read once, and checked before it is used.
 */
#ifndef GANDALF_NETWORK_END_H
#define GANDALF_NETWORK_END_H

#include "channel_end.h"
#include "network.h"

/* A frame that waits to be received. */
struct network_frame {
	const uint8_t *bytes; /* in shared memory: to be copied, and looked at in the copy */
	uint32_t size;        /* GANDALF_NETWORK_HEADER to GANDALF_NETWORK_FRAME */
	uint32_t tail;        /* the position at which it was found */
	uint32_t span;        /* bytes of the ring that it takes, with a filler before it */
};

static inline struct gandalf_network *network_of(const struct channel_end *end)
{
	return (struct gandalf_network *)(void *)end->channel;
}

static inline uint8_t *network_bytes(const struct channel_end *end, uint32_t side)
{
	return (uint8_t *)(end->channel + 1) + side * end->capacity;
}

/* Returns whether one of a guest's channels is a network. */
static inline int network_is(const struct gandalf_channel_place *place)
{
	uint32_t prefix = GANDALF_NETWORK_PREFIX;

	for (uint32_t i = 0; i < GANDALF_NETWORK_PREFIX_SIZE; i++, prefix >>= 8)
		if ((uint8_t)place->name[i] != (uint8_t)prefix)
			return 0;
	return 1;
}

/*
 * Gives the Ethernet address of this guest in a network: 02, which is an address that no maker has
 * given, three bytes of a hash (FNV-1a) of the network's name, the side, and 01. So it is the same
 * at each start, and differs between networks.
 */
static inline void network_address(const struct gandalf_channel_place *place, uint8_t address[6])
{
	uint32_t hash = 2166136261u;

	for (uint32_t i = GANDALF_NETWORK_PREFIX_SIZE; i < sizeof(place->name) && place->name[i];
	     i++)
		hash = (hash ^ (uint8_t)place->name[i]) * 16777619u;
	address[0] = 0x02;
	address[1] = (uint8_t)(hash >> 16);
	address[2] = (uint8_t)(hash >> 8);
	address[3] = (uint8_t)hash;
	address[4] = (uint8_t)place->side;
	address[5] = 0x01;
}

/* As channel_look(). A position that is no multiple of 4 is one outside the ring. */
static inline int32_t network_look(struct channel_end *end, uint32_t side, uint32_t *head,
				   uint32_t *tail)
{
	int32_t error = channel_look(end, &network_of(end)->rings[side], head, tail);

	return error || ((*head | *tail) & 3) == 0 ? error : GANDALF_CHANNEL_BROKEN;
}

/* Returns the bytes of a ring that a frame takes. */
static inline uint32_t network_span(uint32_t size)
{
	return 4 + ((size + 3) & ~(uint32_t)3);
}

/* Returns the filler before a frame at a position: what is left of the ring, if that is too little
 * for the frame. */
static inline uint32_t network_filler(const struct channel_end *end, uint32_t at, uint32_t span)
{
	return end->capacity - at < span ? end->capacity - at : 0;
}

/*
 * Sends a frame of GANDALF_NETWORK_HEADER to GANDALF_NETWORK_FRAME bytes. Returns its size; 0 if
 * the ring lacks room; or an error of channel_send(). The caller rings where network_rings() says
 * so, behind the last of several frames.
 */
static inline int32_t network_send(struct channel_end *end, const void *from, uint32_t size)
{
	uint8_t *bytes = network_bytes(end, end->side);
	uint32_t head, tail, free, filler, at, span = network_span(size);
	int32_t error = network_look(end, end->side, &head, &tail);

	if (error)
		return error;
	free = (tail > head ? tail : tail + end->capacity) - head - 4;
	filler = network_filler(end, head, span);
	if (filler + span > free)
		return 0;
	at = filler ? 0 : head;
	if (filler)
		__atomic_store_n((uint32_t *)(void *)(bytes + head), 0, __ATOMIC_RELAXED);
	__atomic_store_n((uint32_t *)(void *)(bytes + at), size, __ATOMIC_RELAXED);
	channel_copy(bytes + at + 4, from, size);
	error = channel_move(end, &network_of(end)->rings[end->side].head, head, filler + span);
	return error > 0 ? (int32_t)size : error;
}

/* Returns 1 if a frame of any size has room, 0 if not, or an error of channel_send(). */
static inline int32_t network_has_room(const struct channel_end *end)
{
	struct channel_end copy = *end;
	uint32_t head, tail, span = network_span(GANDALF_NETWORK_FRAME);
	int32_t error = network_look(&copy, copy.side, &head, &tail);

	if (error)
		return error;
	return network_filler(end, head, span) + span <=
	       (tail > head ? tail : tail + end->capacity) - head - 4;
}

/*
 * Looks for the next frame. Returns its size and describes it in frame; 0 if there is none; or an
 * error of channel_receive(), among them GANDALF_CHANNEL_BROKEN if the sizes in the ring cannot be.
 * The caller copies the bytes and then calls network_take().
 */
static inline int32_t network_peek(struct channel_end *end, struct network_frame *frame)
{
	const uint8_t *bytes = network_bytes(end, 1 - end->side);
	uint32_t head, tail, full, size, filler = 0, at;
	int32_t error = network_look(end, 1 - end->side, &head, &tail);

	if (error || head == tail)
		return error;
	full = (head > tail ? head : head + end->capacity) - tail;
	at = tail;
	size = __atomic_load_n((const uint32_t *)(const void *)(bytes + at), __ATOMIC_RELAXED);
	if (size == 0 && at != 0) {
		filler = end->capacity - at;
		if (filler >= full)
			return GANDALF_CHANNEL_BROKEN;
		at = 0;
		size = __atomic_load_n((const uint32_t *)(const void *)bytes, __ATOMIC_RELAXED);
	}
	if (size < GANDALF_NETWORK_HEADER || size > GANDALF_NETWORK_FRAME ||
	    network_span(size) > full - filler || network_span(size) > end->capacity - at)
		return GANDALF_CHANNEL_BROKEN;
	*frame = (struct network_frame){ bytes + at + 4, size, tail, filler + network_span(size) };
	return (int32_t)size;
}

/* Takes a frame out of the ring. Returns more than 0, or GANDALF_CHANNEL_RESET if a new epoch has
 * begun since network_peek(): what was copied may be anything, and is thrown away. */
static inline int32_t network_take(struct channel_end *end, const struct network_frame *frame)
{
	struct gandalf_ring *ring = &network_of(end)->rings[1 - end->side];

	return channel_move(end, &ring->tail, frame->tail, frame->span);
}

/* Says whether this side receives in the epoch that end knows. The caller rings. */
static inline void network_announce(const struct channel_end *end, int alive)
{
	struct gandalf_network_side *own = &network_of(end)->sides[end->side];

	__atomic_store_n(&own->alive, alive ? end->epoch | GANDALF_NETWORK_ALIVE : 0,
			 __ATOMIC_RELEASE);
}

/* Returns whether the other side has said that it receives in the epoch that end knows. */
static inline int network_peer_alive(const struct channel_end *end)
{
	return __atomic_load_n(&network_of(end)->sides[1 - end->side].alive, __ATOMIC_ACQUIRE) ==
	       (end->epoch | GANDALF_NETWORK_ALIVE);
}

/* Asks the other side to ring when it has sent a frame, or if room is not 0, received one. What it
 * has done before it sees this is not rung for, so the caller looks at the ring once more. */
static inline void network_want(const struct channel_end *end, int room)
{
	struct gandalf_network_side *own = &network_of(end)->sides[end->side];

	__atomic_exchange_n(room ? &own->wants_room : &own->wants_frames, 1, __ATOMIC_SEQ_CST);
}

/* Returns whether to ring after having sent, or if received is not 0, received: the other side has
 * asked for it and was not answered since. The index has moved with a locked instruction, so this
 * is read behind it. */
static inline int network_rings(const struct channel_end *end, int received)
{
	struct gandalf_network_side *peer = &network_of(end)->sides[1 - end->side];
	uint32_t *wants = received ? &peer->wants_room : &peer->wants_frames;

	return __atomic_load_n(wants, __ATOMIC_SEQ_CST) != 0 &&
	       __atomic_exchange_n(wants, 0, __ATOMIC_SEQ_CST) != 0;
}

#endif
