/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a network (abi/network_end.h): each arrives whole, once and in order, none of an
 * old epoch arrives in a new one, and nothing that the other side writes leads out of the ring.
 */
#include "network_memory.h"
#include "unit.h"

#include <string.h>

#include "abi/network_end.h"

static struct channel_end ends[2];

_Static_assert(sizeof(struct gandalf_network) == GANDALF_CHANNEL_HEADER, "a channel's header");

static int start(void **state)
{
	struct gandalf_channel_place place = { .name = "net:lan", .size = SIZE };

	(void)state;
	memset(&memory, GUARD, sizeof(memory));
	memset(&memory.network, 0, sizeof(memory.network));
	renew();
	for (u32 side = 0; side < 2; side++) {
		place.side = side;
		channel_open(&ends[side], &memory, &place);
		assert_int_equal(ends[side].capacity, CAPACITY);
	}
	return 0;
}

/* Receives a frame as a guest does. Returns its size, 0 or an error. */
static int receive(struct channel_end *end, u8 *to)
{
	struct network_frame frame;
	int32_t size = network_peek(end, &frame), taken;

	if (size <= 0)
		return size;
	assert_true((u32)size == frame.size && frame.size >= GANDALF_NETWORK_HEADER &&
		    frame.size <= FRAME);
	assert_true(frame.bytes >= network_bytes(end, 1 - end->side) &&
		    frame.bytes + frame.size <= network_bytes(end, 1 - end->side) + CAPACITY);
	channel_copy(to, frame.bytes, frame.size);
	taken = network_take(end, &frame);
	return taken < 0 ? taken : size;
}

/* Writes into a frame what frame number n of a size has. */
static void fill(u8 *bytes, u32 size, u32 n)
{
	for (u32 i = 0; i < size; i++)
		bytes[i] = (u8)(n * 7 + i);
}

static void every_frame_arrives_whole_once_and_in_order(void **state)
{
	u32 seed = 1, sent[2] = { 0, 0 }, received[2] = { 0, 0 }, sizes[2][1024];
	u8 bytes[FRAME], wanted[FRAME];

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		u32 side = random_next(&seed) % 2;
		u32 size = GANDALF_NETWORK_HEADER +
			   random_next(&seed) % (FRAME - GANDALF_NETWORK_HEADER + 1);
		int moved;

		if (random_next(&seed) % 2) {
			fill(bytes, size, sent[side]);
			moved = network_send(&ends[side], bytes, size);
			assert_true(moved == 0 || (u32)moved == size);
			if (moved)
				sizes[side][sent[side]++ % 1024] = size;
			continue;
		}
		moved = receive(&ends[1 - side], bytes);
		assert_int_equal(moved != 0, sent[side] != received[side]);
		if (!moved)
			continue;
		assert_int_equal(moved, sizes[side][received[side] % 1024]);
		fill(wanted, (u32)moved, received[side]++);
		assert_memory_equal(bytes, wanted, (u32)moved);
	}
	assert_true(received[0] > 20000 && received[1] > 20000);
	assert_int_equal(memory.bytes[SIZE], GUARD);
}

static void who_has_room_can_send_the_largest_frame(void **state)
{
	u32 seed = 3, full = 0;
	u8 bytes[FRAME] = { 0 };

	(void)state;
	for (u32 i = 0; i < 20000; i++) {
		u32 size = GANDALF_NETWORK_HEADER + random_next(&seed) % 600;
		int room = network_has_room(&ends[0]);
		int sent = network_send(&ends[0], bytes, room ? FRAME : size);

		assert_true(!room || sent == (int)FRAME);
		full += !sent;
		while (random_next(&seed) % 3 == 0)
			receive(&ends[1], bytes);
	}
	assert_true(full > 100);
}

static void a_new_epoch_is_told_once_and_leaves_no_stale_frame(void **state)
{
	u8 bytes[FRAME] = { 0 };
	struct network_frame frame;

	(void)state;
	for (u32 i = 0; i < 5000; i++) { /* the epoch's bits go round once */
		assert_int_equal(network_send(&ends[0], bytes, 60), 60);
		assert_int_equal(network_peek(&ends[1], &frame), 60);
		renew();
		assert_int_equal(network_take(&ends[1], &frame), GANDALF_CHANNEL_RESET);
		assert_int_equal(network_peek(&ends[1], &frame), 0);
		assert_int_equal(network_has_room(&ends[0]), GANDALF_CHANNEL_RESET);
		assert_int_equal(network_send(&ends[0], bytes, 60), GANDALF_CHANNEL_RESET);
		assert_int_equal(network_send(&ends[0], bytes, 61), 61);
		assert_int_equal(receive(&ends[1], bytes), 61);
	}
}

static void sizes_that_cannot_be_are_noticed(void **state)
{
	static const struct {
		u32 head, size;
	} wrong[] = {
		{ 64, 0 },	    /* a filler at position 0 */
		{ 64, 13 },	    { 64, 61 },		 { 2000, FRAME + 1 },
		{ 64, 0xffffffff }, { 64, 0xfffffffc },	 { 64, 0x80000000 },
		{ 4, 14 },	    { CAPACITY - 4, FRAME + 1 },
	};
	struct network_frame frame;

	(void)state;
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		renew();
		network_peek(&ends[1], &frame); /* is told of the epoch */
		memory.network.rings[0].head = epoch | wrong[i].head;
		memcpy(network_bytes(&ends[0], 0), &wrong[i].size, 4);
		assert_int_equal(network_peek(&ends[1], &frame), GANDALF_CHANNEL_BROKEN);
	}
}

static void nothing_that_the_other_side_writes_leads_out_of_the_ring(void **state)
{
	u32 seed = 4, found[3] = { 0 };
	u8 bytes[FRAME];

	(void)state;
	memset(bytes, GUARD, sizeof(bytes));
	for (u32 i = 0; i < 300000; i++) {
		u32 word = random_next(&seed), at = random_next(&seed) % (SIZE / 4);
		int result;

		/* A new life now and then, and real frames before they are spoilt. Then mostly
		 * what is almost right: small words, and the right epoch in the indices. */
		if (random_next(&seed) % 8 == 0)
			renew();
		if (random_next(&seed) % 2)
			network_send(&ends[0], bytes, GANDALF_NETWORK_HEADER + at % 200);
		word = random_next(&seed) % 8 ? word % (at < 4 ? CAPACITY : 256) : word;
		((u32 *)(void *)memory.bytes)[at] = at < 4 ? ends[1].epoch | word : word;
		if (random_next(&seed) % 16 == 0)
			memory.network.rings[random_next(&seed) % 2].head =
				ends[1].epoch | (word & ~3u);
		result = receive(&ends[1], bytes); /* asserts where the frame lies */
		found[result > 0 ? 0 : result == GANDALF_CHANNEL_BROKEN ? 1 : 2]++;
		result = network_send(&ends[1], bytes, FRAME);
		assert_true(result == FRAME || result <= 0);
		assert_int_equal(memory.bytes[SIZE], GUARD);
	}
	assert_true(found[0] > 1000 && found[1] > 1000 && found[2] > 1000);
}

static void a_ring_is_asked_for_and_given_once(void **state)
{
	(void)state;
	for (int room = 0; room < 2; room++) {
		assert_false(network_rings(&ends[0], room));
		network_want(&ends[1], room);
		assert_false(network_rings(&ends[0], !room));
		assert_true(network_rings(&ends[0], room));
		assert_false(network_rings(&ends[0], room));
	}
}

static void who_has_announced_himself_lives_until_the_next_epoch(void **state)
{
	struct network_frame frame;

	(void)state;
	assert_false(network_peer_alive(&ends[0]));
	network_announce(&ends[1], 1);
	assert_true(network_peer_alive(&ends[0]));
	assert_false(network_peer_alive(&ends[1]));
	renew();
	assert_int_equal(network_peek(&ends[0], &frame), GANDALF_CHANNEL_RESET);
	assert_false(network_peer_alive(&ends[0]));
	assert_int_equal(network_peek(&ends[1], &frame), GANDALF_CHANNEL_RESET);
	network_announce(&ends[1], 1);
	assert_true(network_peer_alive(&ends[0]));
	network_announce(&ends[1], 0);
	assert_false(network_peer_alive(&ends[0]));
}

static void each_side_of_each_network_has_an_address_of_its_own(void **state)
{
	struct gandalf_channel_place one = { .name = "net:lan", .side = 0 };
	struct gandalf_channel_place two = { .name = "net:lan", .side = 1 };
	struct gandalf_channel_place other = { .name = "net:lan1", .side = 0 };
	u8 addresses[3][6];

	(void)state;
	network_address(&one, addresses[0]);
	network_address(&two, addresses[1]);
	network_address(&other, addresses[2]);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(addresses[i][0] & 3, 2); /* local, and not for a group */
	assert_memory_not_equal(addresses[0], addresses[1], 6);
	assert_memory_not_equal(addresses[0], addresses[2], 6);
	assert_true(network_is(&one));
	assert_false(network_is(&(struct gandalf_channel_place){ .name = "net" }));
	assert_false(network_is(&(struct gandalf_channel_place){ .name = "nett" }));
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_frame_arrives_whole_once_and_in_order),
		TEST(who_has_room_can_send_the_largest_frame),
		TEST(a_new_epoch_is_told_once_and_leaves_no_stale_frame),
		TEST(sizes_that_cannot_be_are_noticed),
		TEST(nothing_that_the_other_side_writes_leads_out_of_the_ring),
		TEST(a_ring_is_asked_for_and_given_once),
		TEST(who_has_announced_himself_lives_until_the_next_epoch),
		TEST(each_side_of_each_network_has_an_address_of_its_own),
	};

	return RUN_TESTS(tests);
}
