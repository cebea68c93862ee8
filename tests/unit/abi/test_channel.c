/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a channel (abi/channel_end.h): every byte arrives once and in order, none
 * of an old epoch arrives in a new one, and nonsense of the other side does no harm.
 */
#include "unit.h"

#include <string.h>

#include "abi/channel_end.h"

#define CAPACITY 61u

static union {
	struct gandalf_channel channel;
	u8 bytes[GANDALF_CHANNEL_HEADER + 2 * CAPACITY + 1]; /* one more, which stays */
} memory;

static struct channel_end ends[2];
static u32 epoch;

/* As the VMM does it when a guest starts or stops. */
static void renew(void)
{
	epoch += GANDALF_CHANNEL_EPOCH;
	for (u32 i = 0; i < 2; i++)
		memory.channel.rings[i].head = memory.channel.rings[i].tail = epoch;
}

static int start(void **state)
{
	struct gandalf_channel_place place = { .size = GANDALF_CHANNEL_HEADER + 2 * CAPACITY };

	(void)state;
	memset(&memory, 0xaa, sizeof(memory));
	renew();
	for (u32 side = 0; side < 2; side++) {
		place.side = side;
		channel_open(&ends[side], &memory, &place);
		assert_int_equal(ends[side].capacity, CAPACITY);
	}
	return 0;
}

static void a_ring_takes_one_byte_less_than_its_capacity(void **state)
{
	u8 bytes[2 * CAPACITY] = { 0 };

	(void)state;
	for (u32 side = 0; side < 2; side++) {
		assert_int_equal(channel_receive(&ends[1 - side], bytes, 1), 0);
		assert_int_equal(channel_send(&ends[side], bytes, sizeof(bytes)), CAPACITY - 1);
		assert_int_equal(channel_send(&ends[side], bytes, 1), 0);
		assert_int_equal(channel_receive(&ends[1 - side], bytes, 3), 3);
		assert_int_equal(channel_send(&ends[side], bytes, sizeof(bytes)), 3);
		assert_int_equal(channel_receive(&ends[1 - side], bytes, sizeof(bytes)),
				 CAPACITY - 1);
		assert_int_equal(channel_receive(&ends[1 - side], bytes, sizeof(bytes)), 0);
	}
	assert_int_equal(memory.bytes[sizeof(memory.bytes) - 1], 0xaa);
}

static void every_byte_arrives_once_and_in_order(void **state)
{
	u32 seed = 1, sent[2] = { 0, 0 }, received[2] = { 0, 0 };
	u8 bytes[80];

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		u32 side = random_next(&seed) % 2;
		u32 size = random_next(&seed) % sizeof(bytes);
		int moved;

		if (random_next(&seed) % 2) {
			for (u32 j = 0; j < size; j++)
				bytes[j] = (u8)(sent[side] + j);
			moved = channel_send(&ends[side], bytes, size);
			assert_true(moved >= 0 && (u32)moved <= size);
			sent[side] += (u32)moved;
		} else {
			moved = channel_receive(&ends[1 - side], bytes, size);
			assert_true(moved >= 0 && (u32)moved <= size);
			for (int j = 0; j < moved; j++)
				assert_int_equal(bytes[j], (u8)(received[side] + (u32)j));
			received[side] += (u32)moved;
		}
		assert_true(sent[side] - received[side] < CAPACITY);
	}
	assert_true(received[0] > 400000 && received[1] > 400000);
}

static void a_new_epoch_is_told_once_and_leaves_no_stale_byte(void **state)
{
	u8 byte = 1;

	(void)state;
	for (u32 i = 0; i < 5000; i++) { /* the epoch's bits go round once */
		byte = 1;
		assert_int_equal(channel_send(&ends[0], &byte, 1), 1);
		renew();
		assert_int_equal(channel_receive(&ends[1], &byte, 1), GANDALF_CHANNEL_RESET);
		assert_int_equal(channel_receive(&ends[1], &byte, 1), 0);
		assert_int_equal(channel_send(&ends[0], &byte, 1), GANDALF_CHANNEL_RESET);
		byte = 2;
		assert_int_equal(channel_send(&ends[0], &byte, 1), 1);
		assert_int_equal(channel_receive(&ends[1], &byte, 1), 1);
		assert_int_equal(byte, 2);
	}
}

static void an_epoch_that_begins_in_the_middle_keeps_the_index(void **state)
{
	u32 *head = &memory.channel.rings[0].head;

	(void)state;
	/* Between the copying and the last step of channel_send(). */
	renew();
	assert_int_equal(channel_move(&ends[0], head, 0, 5), GANDALF_CHANNEL_RESET);
	assert_int_equal(*head, epoch);
	assert_int_equal(ends[0].epoch, epoch);
	assert_int_equal(channel_move(&ends[0], head, 0, 5), 5);
	assert_int_equal(*head, epoch | 5);
}

static void nonsense_of_the_other_side_is_noticed(void **state)
{
	u8 bytes[CAPACITY];

	(void)state;
	for (u32 position = CAPACITY; position <= GANDALF_CHANNEL_POSITION; position++) {
		memory.channel.rings[0].tail = epoch | position;
		assert_int_equal(channel_send(&ends[0], bytes, 1), GANDALF_CHANNEL_BROKEN);
		memory.channel.rings[1].head = epoch | position;
		assert_int_equal(channel_receive(&ends[0], bytes, 1), GANDALF_CHANNEL_BROKEN);
	}
	renew();
	assert_int_equal(channel_send(&ends[0], bytes, 1), GANDALF_CHANNEL_RESET);
	assert_int_equal(channel_send(&ends[0], bytes, 1), 1);
}

static void who_looks_is_told_what_a_call_would_find(void **state)
{
	u32 seed = 2;
	u8 bytes[2 * CAPACITY];

	(void)state;
	for (u32 i = 0; i < 20000; i++) {
		u32 side = random_next(&seed) % 2;
		bool sends = random_next(&seed) % 2;
		struct channel_end before = ends[side];
		int ready, found;

		if (random_next(&seed) % 50 == 0)
			renew();
		if (random_next(&seed) % 50 == 0) /* nonsense, up to the next epoch */
			memory.channel.rings[random_next(&seed) % 2].head |=
				GANDALF_CHANNEL_POSITION;
		ready = channel_ready(&ends[side], sends);
		assert_memory_equal(&ends[side], &before, sizeof(before));
		found = sends ? channel_send(&ends[side], bytes, sizeof(bytes)) :
				channel_receive(&ends[side], bytes, sizeof(bytes));
		assert_int_equal(ready, found);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_ring_takes_one_byte_less_than_its_capacity),
		TEST(every_byte_arrives_once_and_in_order),
		TEST(a_new_epoch_is_told_once_and_leaves_no_stale_byte),
		TEST(an_epoch_that_begins_in_the_middle_keeps_the_index),
		TEST(nonsense_of_the_other_side_is_noticed),
		TEST(who_looks_is_told_what_a_call_would_find),
	};

	return RUN_TESTS(tests);
}
