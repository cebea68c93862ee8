/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RTOS's end of a network over the lives of its two guests (network_link.h): frames, carrier,
 * doorbells, and another side that writes anything.
 */
#include "network_memory.h"
#include "unit.h"

#include <string.h>

#include "network_link.h"

static struct network_link own, other;
static u8 taken[FRAME + 1]; /* one more, which stays */

static void open_side(struct network_link *link, u32 side)
{
	struct gandalf_channel_place place = { .name = "net:lan", .size = SIZE, .side = side };
	struct channel_end end;

	channel_open(&end, &memory, &place);
	network_link_start(link, &end);
}

static int start(void **state)
{
	(void)state;
	memset(&memory, GUARD, sizeof(memory));
	memset(&memory.network, 0, sizeof(memory.network));
	memset(taken, GUARD, sizeof(taken));
	renew();
	open_side(&own, 0);
	open_side(&other, 1);
	return 0;
}

static u32 receive(struct network_link *link)
{
	u32 size = network_link_receive(link, taken);

	assert_true(size == 0 || (size >= GANDALF_NETWORK_HEADER && size <= FRAME));
	assert_int_equal(taken[FRAME], GUARD);
	assert_int_equal(memory.bytes[SIZE], GUARD);
	return size;
}

static void frames_go_both_ways(void **state)
{
	u8 bytes[FRAME];

	(void)state;
	for (u32 size = GANDALF_NETWORK_HEADER; size <= FRAME; size++) {
		struct network_link *from = size % 2 ? &own : &other;

		memset(bytes, (int)size, sizeof(bytes));
		assert_true(network_link_send(from, bytes, size));
		assert_int_equal(receive(size % 2 ? &other : &own), size);
		assert_memory_equal(taken, bytes, size);
		assert_int_equal(receive(from), 0);
	}
}

static void who_begins_rings_once(void **state)
{
	(void)state;
	assert_true(network_link_rings(&own));
	assert_false(network_link_rings(&own));
}

static void who_has_asked_is_rung_once_for_many_frames(void **state)
{
	u8 bytes[60] = { 0 };

	(void)state;
	network_link_rings(&own);
	network_link_want(&other);
	for (u32 i = 0; i < 3; i++)
		assert_true(network_link_send(&own, bytes, sizeof(bytes)));
	assert_true(network_link_rings(&own));
	assert_true(network_link_send(&own, bytes, sizeof(bytes)));
	assert_false(network_link_rings(&own));
}

/* Else two guests that do nothing would ring each other for ever. */
static void nobody_is_rung_for_what_was_not_done(void **state)
{
	u8 bytes[60] = { 0 };

	(void)state;
	network_link_rings(&own);
	network_link_want(&other);
	network_want(&other.sender, 1);
	assert_int_equal(receive(&own), 0);
	assert_false(network_link_rings(&own));
	assert_true(network_link_send(&other, bytes, sizeof(bytes)));
	assert_int_equal(receive(&own), sizeof(bytes));
	assert_true(network_link_rings(&own)); /* there is room */
	assert_false(network_link_rings(&own));
	assert_true(network_link_send(&own, bytes, sizeof(bytes)));
	assert_true(network_link_rings(&own)); /* there is a frame */
}

static void the_carrier_is_there_while_the_other_side_receives(void **state)
{
	(void)state;
	assert_true(network_link_carrier(&own));
	network_announce(&other.receiver, 0);
	assert_false(network_link_carrier(&own));
	network_announce(&other.receiver, 1);
	assert_true(network_link_carrier(&own));
	renew();
	assert_int_equal(receive(&own), 0);
	assert_false(network_link_carrier(&own));
	assert_int_equal(receive(&other), 0);
	assert_true(network_link_carrier(&own));
}

/* A guest that has started sends before this side has noticed, and rings for nothing that was there
 * before it was asked. */
static void frames_of_a_new_epoch_are_found_at_the_first_look(void **state)
{
	u8 bytes[60] = { 0 };

	(void)state;
	assert_true(network_link_send(&other, bytes, 60));
	network_link_rings(&own);
	renew();
	assert_true(network_link_send(&other, bytes, 61));
	assert_int_equal(receive(&own), 61);
	assert_true(network_link_rings(&own)); /* it has announced itself */
	assert_true(network_link_send(&own, bytes, 62));
	assert_int_equal(receive(&other), 62);
}

static void a_frame_without_room_is_lost_and_room_is_told_once(void **state)
{
	u8 bytes[FRAME] = { 0 };
	u32 sent = 0;

	(void)state;
	assert_false(network_link_emptied(&own));
	while (network_link_send(&own, bytes, FRAME))
		sent++;
	assert_true(sent >= 2 && sent < CAPACITY / FRAME + 1);
	assert_false(network_link_emptied(&own));
	network_link_rings(&own);
	network_link_want(&other);
	assert_false(network_link_send(&own, bytes, FRAME));
	assert_false(network_link_rings(&own)); /* nothing has come */
	while (receive(&other))
		sent--;
	assert_int_equal(sent, 0);
	assert_true(network_link_emptied(&own));
	assert_false(network_link_emptied(&own));
	assert_true(network_link_send(&own, bytes, FRAME));
}

static void who_has_had_no_room_is_rung_when_there_is_some(void **state)
{
	u8 bytes[FRAME] = { 0 };

	(void)state;
	network_link_rings(&other);
	while (network_link_send(&own, bytes, FRAME))
		;
	assert_int_equal(receive(&other), FRAME);
	assert_true(network_link_rings(&other));
	assert_false(network_link_rings(&other));
}

static void a_broken_ring_has_no_carrier_until_the_next_epoch(void **state)
{
	u8 bytes[60] = { 0 };

	(void)state;
	memory.network.rings[1].head = epoch | 0xffffc;
	assert_int_equal(receive(&own), 0);
	assert_false(network_link_carrier(&own));
	memory.network.rings[0].tail = epoch | 0xffffc;
	assert_false(network_link_send(&own, bytes, 60));
	assert_false(network_link_emptied(&own));
	renew();
	assert_int_equal(receive(&own), 0);
	assert_int_equal(receive(&other), 0);
	assert_true(network_link_carrier(&own));
	assert_true(network_link_send(&own, bytes, 60));
	assert_int_equal(receive(&other), 60);
}

/* An epoch that the other side has written to one index only is none: this side announces itself
 * for an epoch, not for each look. */
static void an_epoch_in_one_index_rings_nobody_for_ever(void **state)
{
	u32 rings = 0;

	(void)state;
	network_link_rings(&own);
	memory.network.rings[1].tail += GANDALF_CHANNEL_EPOCH;
	for (u32 i = 0; i < 100; i++) {
		assert_int_equal(receive(&own), 0);
		rings += network_link_rings(&own);
	}
	assert_int_equal(rings, 0);
}

static void nothing_that_the_other_side_writes_leads_astray(void **state)
{
	u32 seed = 5, frames = 0, broken = 0, lost = 0;
	u8 bytes[FRAME];

	(void)state;
	memset(bytes, GUARD, sizeof(bytes));
	for (u32 i = 0; i < 300000; i++) {
		u32 word = random_next(&seed), at = random_next(&seed) % (SIZE / 4);

		if (random_next(&seed) % 8 == 0)
			renew();
		if (random_next(&seed) % 2)
			network_link_send(&other, bytes, GANDALF_NETWORK_HEADER + at % 200);
		word = random_next(&seed) % 8 ? word % (at < 4 ? CAPACITY : 256) : word;
		((u32 *)(void *)memory.bytes)[at] = at < 4 ? own.receiver.epoch | word : word;
		if (random_next(&seed) % 16 == 0)
			memory.network.rings[random_next(&seed) % 2].head =
				own.receiver.epoch | (word & ~3u);
		network_link_want(&own);
		frames += receive(&own) != 0;
		lost += !network_link_send(&own, bytes, FRAME);
		network_link_emptied(&own);
		network_link_rings(&own);
		broken += !network_link_carrier(&own);
		assert_int_equal(memory.bytes[SIZE], GUARD);
	}
	assert_true(frames > 1000 && lost > 1000 && broken > 1000);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(frames_go_both_ways),
		TEST(who_begins_rings_once),
		TEST(who_has_asked_is_rung_once_for_many_frames),
		TEST(nobody_is_rung_for_what_was_not_done),
		TEST(the_carrier_is_there_while_the_other_side_receives),
		TEST(frames_of_a_new_epoch_are_found_at_the_first_look),
		TEST(a_frame_without_room_is_lost_and_room_is_told_once),
		TEST(who_has_had_no_room_is_rung_when_there_is_some),
		TEST(a_broken_ring_has_no_carrier_until_the_next_epoch),
		TEST(an_epoch_in_one_index_rings_nobody_for_ever),
		TEST(nothing_that_the_other_side_writes_leads_astray),
	};

	return RUN_TESTS(tests);
}
