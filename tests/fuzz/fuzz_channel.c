/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what the two guests of a channel send and receive with, against one that
 * writes whatever it likes into the shared memory, between the calls and in the
 * middle of them, and against new epochs at any moment. The other's memory is read
 * in the atomic operations and as mere content, so "in the middle" is before each of
 * the atomic operations.
 *
 * A call must stay in its buffers, write no more than its own index and ring, and
 * give no other result than channel.h says. As long as nobody has scribbled, bytes
 * arrive as they were sent, and each end is told of each new epoch once.
 */
#include <stdlib.h>
#include <string.h>

#include "input.h"

static void in_the_middle(void);

#define __atomic_load_n(at, order) (in_the_middle(), *(at))
#define __atomic_compare_exchange_n(at, expected, value, weak, success, failure) \
	(in_the_middle(), exchange(at, expected, value))

static bool exchange(u32 *at, u32 *expected, u32 value);

#include "abi/channel_end.h"

#define CAPACITY_MAXIMUM 512u
#define SIZE_MAXIMUM (GANDALF_CHANNEL_HEADER + 2 * CAPACITY_MAXIMUM)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* What somebody else does to the shared memory. */
struct change {
	bool renews;  /* a new epoch; if not, a word is written */
	u32 at, value;
	u32 delay;    /* before which atomic operation of a call, from 1 on; 0: done */
};

static u8 *memory;     /* as large as the channel, so that the sanitizer sees what is outside */
static u8 expected_memory[SIZE_MAXIMUM]; /* as it is but for what the call may write */
static u32 memory_size;
static struct channel_end ends[2];
static struct change change;
static u32 epoch;
static bool scribbled;     /* in this epoch */
static bool told[2];       /* end n knows this epoch */
static bool renewed;       /* during the call */
static u8 queues[2][CAPACITY_MAXIMUM]; /* what was sent on ring n and is not yet received */
static u32 queued[2];
static u8 next_byte;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static bool exchange(u32 *at, u32 *expected, u32 value)
{
	bool same = *at == *expected;

	if (same)
		*at = value;
	else
		*expected = *at;
	return same;
}

static void put(u32 at, u32 value)
{
	memcpy(memory + at, &value, sizeof(value));
	memcpy(expected_memory + at, &value, sizeof(value));
}

/* As channel_renew() of the VMM. */
static void renew(void)
{
	epoch += GANDALF_CHANNEL_EPOCH;
	for (u32 at = 0; at < 4 * sizeof(u32); at += (u32)sizeof(u32))
		put(at, epoch);
	/* One that was led to this epoch before it began finds nothing new. */
	told[0] = ends[0].epoch == epoch;
	told[1] = ends[1].epoch == epoch;
	scribbled = false;
	queued[0] = queued[1] = 0;
	renewed = true;
}

static void perform(void)
{
	if (change.renews) {
		renew();
		return;
	}
	put(change.at, change.value);
	scribbled = true;
}

static void in_the_middle(void)
{
	if (change.delay != 0 && --change.delay == 0)
		perform();
}

static void plan(struct input *input, bool renews, u32 delay)
{
	change.renews = renews;
	change.delay = delay;
	if (!renews) {
		u32 where = input_take(input, 2);

		/* Mostly an index. */
		change.at = where & 0x8000 ? where % (memory_size - 3) : where % 4 * 4;
		change.value = input_take(input, 4);
		if (change.value & 1)
			change.value = epoch | (change.value >> 1) % ends[0].capacity;
	}
	if (delay == 0)
		perform();
}

/* Nothing but the one index and, for a sender, its ring may have changed. */
static void check_memory(unsigned side, bool sent)
{
	u32 index = 8 * (sent ? side : 1 - side) + (sent ? 0 : 4);
	u32 ring = GANDALF_CHANNEL_HEADER + side * ends[side].capacity;

	memcpy(expected_memory + index, memory + index, sizeof(u32));
	if (sent)
		memcpy(expected_memory + ring, memory + ring, ends[side].capacity);
	require(memcmp(expected_memory, memory, memory_size) == 0);
}

static void check_result(unsigned side, s32 result, u32 size, bool whole)
{
	bool reset = result == GANDALF_CHANNEL_RESET;

	if (result < 0)
		require(reset || result == GANDALF_CHANNEL_BROKEN);
	else
		require((u32)result <= size && (u32)result < ends[side].capacity);
	if (!scribbled && whole) {
		require(result != GANDALF_CHANNEL_BROKEN && (renewed || reset == !told[side]));
		require(!reset || ends[side].epoch == epoch);
	}
	told[side] = ends[side].epoch == epoch;
}

static void send(unsigned side, u32 size)
{
	u8 *bytes = malloc(minimum(size, CAPACITY_MAXIMUM) + 1);
	bool whole = !scribbled;
	s32 result;

	for (u32 i = 0; i < minimum(size, CAPACITY_MAXIMUM); i++)
		bytes[i] = (u8)(next_byte + i);
	renewed = false;
	result = channel_send(&ends[side], bytes, size);
	check_memory(side, true);
	check_result(side, result, size, whole);
	/* In a new epoch too, if the end had been led to it before it began. */
	for (s32 i = 0; i < result && !scribbled; i++)
		queues[side][queued[side]++] = bytes[i];
	if (!scribbled && whole && !renewed && result >= 0)
		require((u32)result == size || queued[side] == ends[side].capacity - 1);
	next_byte = (u8)(next_byte + size);
	free(bytes);
}

static void receive(unsigned side, u32 size)
{
	u8 *bytes = malloc(minimum(size, CAPACITY_MAXIMUM) + 1);
	u8 *queue = queues[1 - side];
	u32 *count = &queued[1 - side];
	bool whole = !scribbled;
	s32 result;

	renewed = false;
	result = channel_receive(&ends[side], bytes, size);
	check_memory(side, false);
	check_result(side, result, size, whole);
	if (!scribbled && whole && !renewed && result >= 0) {
		require((u32)result == minimum(size, *count));
		require(memcmp(bytes, queue, (u32)result) == 0);
		*count -= (u32)result;
		memmove(queue, queue + result, *count);
	}
	/* Bytes that were there when a new epoch began must not be taken for new ones. */
	require(!renewed || scribbled || result <= 0);
	free(bytes);
}

static void step(struct input *input)
{
	u32 what = input_take(input, 1);
	unsigned side = what >> 7;
	u32 delay = what >> 4 & 7;

	change.delay = 0;
	if (what & 4)
		plan(input, what & 8, delay);
	if (what & 2)
		send(side, what & 1 ? UINT32_MAX - input_take(input, 1) : input_take(input, 2));
	else
		receive(side, what & 1 ? UINT32_MAX - input_take(input, 1) : input_take(input, 2));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };

	memory_size = GANDALF_CHANNEL_HEADER + 2 * (1 + input_take(&input, 2) % CAPACITY_MAXIMUM);
	memory = calloc(1, memory_size);
	memset(expected_memory, 0, sizeof(expected_memory));
	epoch = 0;
	change.delay = 0;
	renew();
	for (u32 side = 0; side < 2; side++) {
		struct gandalf_channel_place place = { .size = memory_size, .side = side };

		channel_open(&ends[side], memory, &place);
		told[side] = true;
	}
	while (input.size > 0)
		step(&input);
	free(memory);
	return 0;
}
