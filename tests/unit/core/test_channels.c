/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's part of channels: where each guest finds them, a new epoch at each start
 * and stop of either side, and who may ring whom.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "fake/kind.h"

#include "core/channel.h"
#include "core/core.h"
#include "core/epoch.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "core/module.h"
#include "arch/ia32/memory.h"

/* Channel 0 joins Linux and A, channel 1 A and B, channel 2 Linux and B. */
enum { LINUX, A, B, C, GUESTS };

#define CHANNELS 3u
/* This core and another. */
#define CORES 2u
#define OUTBOXES (CORES * 2 * PAGE_SIZE)

struct vm vms[PLACES_MAXIMUM];

struct gandalf_table system_table;
static struct vcpu vcpus_made[GUESTS];
static struct gandalf_shared shared[GUESTS];
static struct frame frame;
static u32 mapped[CHANNELS], mapped_count;
static u32 indices[CHANNELS][4];
static unsigned rung[GUESTS];

/*
 * Own stand-ins: memory_copy_out() and memory_copy_in() have the channels' indices, and
 * memory_map_more() writes down what is mapped.
 */
u32 memory_map_more(u32 physical, u32 size)
{
	assert_int_equal(size, (physical >> 16) * 0x1000);
	mapped[mapped_count++] = physical;
	return 0;
}

static u32 *indices_at(u32 physical)
{
	for (u32 i = 0; i < CHANNELS; i++)
		if (system_table.channels[i].base == physical)
			return indices[i];
	fail_msg("%x is no channel", physical);
	return NULL;
}

void memory_copy_out(u32 to, const void *from, u32 size)
{
	assert_int_equal(size, sizeof(indices[0]));
	memcpy(indices_at(to), from, size);
}

void memory_copy_in(void *to, u32 from, u32 size)
{
	assert_int_equal(size, sizeof(indices[0]));
	memcpy(to, indices_at(from), size);
}

static u32 rtos_ring(const struct vm *vm)
{
	assert_false(processor.interrupts);
	if (vm->state != GANDALF_STATE_RUNNING)
		return (u32)GANDALF_ERROR_ARGUMENT;
	rung[vm->index]++;
	return 0;
}

static u32 linux_ring(const struct vm *vm)
{
	assert_false(processor.interrupts);
	assert_ptr_equal(vm, &vms[LINUX]);
	if (vm->state != GANDALF_STATE_RUNNING)
		return (u32)GANDALF_ERROR_ARGUMENT;
	rung[LINUX]++;
	return 0;
}

static const struct guest_kind linux_kind = { .ring = linux_ring };
static const struct guest_kind rtos_kind = { .real_time = true, .ring = rtos_ring };

void processor_sleep(void)
{
	fail();
}

static void channel_make(const char *name, u32 first, u32 second)
{
	u32 number = system_table.channel_count++;

	system_table.channels[number] = (struct gandalf_table_channel){
		.guests = { first, second }, .base = (number + 1) << 16,
		.size = (number + 1) * 0x1000 };
	strcpy(system_table.channels[number].name, name);
}

static int start(void **state)
{
	static struct gandalf_guest guests[GUESTS];

	(void)state;
	memset(&system_table, 0, sizeof(system_table));
	memset(shared, 0, sizeof(shared));
	memset(indices, 0, sizeof(indices));
	memset(rung, 0, sizeof(rung));
	mapped_count = 0;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	system_table.cpus = CORES;
	processor.order = NULL;
	core.vm_count = core.vcpu_count = GUESTS;
	channel_make("first", LINUX, A);
	channel_make("second", B, A);
	channel_make("third", LINUX, B);
	for (u32 i = 0; i < GUESTS; i++) {
		guests[i].memory_base = 0x8000;
		guests[i].memory_size = 0x100000;
		vms[i] = (struct vm){ .guest = &guests[i], .index = i, .vcpus = &vcpus_made[i],
				      .state = GANDALF_STATE_RUNNING };
		vms[i].kind = i == LINUX ? &linux_kind : &rtos_kind;
		vcpus_made[i] =
			(struct vcpu){ .vm = &vms[i], .shared = &shared[i], .frame = &frame };
	}
	return 0;
}

static void an_rtos_has_its_channels_mapped(void **state)
{
	(void)state;
	assert_int_equal(channel_map(&vms[A]), 0x3000);
	assert_int_equal(mapped_count, 2);
	assert_int_equal(mapped[0], 0x10000);
	assert_int_equal(mapped[1], 0x20000);
	assert_int_equal(channel_map(&vms[C]), 0);
	assert_int_equal(mapped_count, 2);
}

static void expect_place(u32 guest, u32 number, const char *name, u32 address, u32 side, u32 peer)
{
	const struct gandalf_channel_place *place = &shared[guest].channels[number];

	assert_string_equal(place->name, name);
	if (name[0] == '\0')
		return;
	assert_int_equal(place->address, address);
	assert_int_equal(place->size, name[0] == 'f' ? 0x1000 : name[0] == 's' ? 0x2000 : 0x3000);
	assert_int_equal(place->side, side);
	assert_int_equal(place->peer, peer);
}

static void every_guest_finds_its_channels(void **state)
{
	(void)state;
	for (u32 i = 0; i < GUESTS; i++)
		channel_tell(&vms[i]);
	expect_place(LINUX, 0, "first", 0x8000, 0, A);
	expect_place(LINUX, 1, "third", 0x28000, 0, B);
	expect_place(LINUX, 2, "", 0, 0, 0);
	expect_place(A, 0, "first", 0x100000, 1, LINUX);
	expect_place(A, 1, "second", 0x101000, 1, B);
	expect_place(A, 2, "", 0, 0, 0);
	expect_place(B, 0, "second", 0x100000, 0, A);
	expect_place(B, 1, "third", 0x102000, 1, LINUX);
	expect_place(C, 0, "", 0, 0, 0);
}

static void a_start_or_stop_begins_an_epoch(void **state)
{
	u32 before[2];

	(void)state;
	asked.admissions = 0;
	channel_renew(&vms[B]);
	assert_int_equal(asked.admissions, 2);
	before[0] = indices[1][0];
	before[1] = indices[2][0];
	assert_int_equal(indices[0][0], 0);
	channel_renew(&vms[B]);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(indices[1][i], before[0] + 2 * GANDALF_CHANNEL_EPOCH);
		assert_int_equal(indices[2][i], before[1] + 2 * GANDALF_CHANNEL_EPOCH);
	}
	/* Who waits for bytes is told, if it runs. */
	channel_ring_peers(&vms[B]);
	assert_int_equal(asked.admissions, 6);
	assert_int_equal(rung[A], 1);
	assert_int_equal(rung[LINUX], 1);
	assert_int_equal(rung[B] + rung[C], 0);
	vms[LINUX].state = GANDALF_STATE_OFF;
	channel_ring_peers(&vms[B]);
	assert_int_equal(rung[LINUX], 1);
}

static void expect_epoch(u32 channel, u32 epoch)
{
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(indices[channel][i], epoch * GANDALF_CHANNEL_EPOCH);
}

/* The lowest bit says whether it is the core of a channel's first guest that writes. */
static void each_core_has_epochs_of_its_own(void **state)
{
	(void)state;
	epoch_begin(0);
	expect_epoch(0, 2);
	epoch_begin(0);
	expect_epoch(0, 4);
	epoch_begin(2);
	expect_epoch(2, 2);
	core.index = 1;
	epoch_begin(0);
	expect_epoch(0, 3);
	core.index = 0;
	/* Those of an index are few: then the first comes again. */
	outbox_of(0)->epochs[0] = 2048 - 1;
	epoch_begin(0);
	expect_epoch(0, 0);
}

static unsigned orders, other_ends;

/* The other core writes some of the indices before this core's were seen. */
static void other_writes(void)
{
	if (++orders <= other_ends)
		indices[1][3] = (2 * orders + 1) * GANDALF_CHANNEL_EPOCH + 5;
}

static void the_last_of_two_that_begin_at_once_finds_only_its_own(void **state)
{
	(void)state;
	processor.order = other_writes;
	for (other_ends = 0; other_ends < 3; other_ends++) {
		u32 before = outbox_of(0)->epochs[1];

		orders = asked.admissions = 0;
		epoch_begin(1);
		expect_epoch(1, 2 * (before + other_ends + 1));
		assert_int_equal(orders, other_ends + 1);
		assert_int_equal(asked.admissions, other_ends);
	}
}

/* Its guests may have moved them meanwhile. */
static void guest_moves(void)
{
	orders++;
	indices[1][0] += 7;
}

static void a_guest_that_writes_nonsense_is_not_waited_for(void **state)
{
	(void)state;
	processor.order = guest_moves;
	orders = 0;
	epoch_begin(1);
	assert_int_equal(orders, 1);
	processor.order = other_writes;
	other_ends = 1000;
	orders = 0;
	epoch_begin(1);
	assert_int_equal(orders, 16);
}

static bool ring(u32 from, u32 to)
{
	u32 result;

	frame.ebx = to;
	processor.interrupts = from == LINUX;
	result = hypercall_linked(GANDALF_HYPERCALL_DOORBELL)(&vcpus_made[from]);
	assert_true(result == 0 || result == (u32)GANDALF_ERROR_ARGUMENT);
	return result == 0;
}

static void linux_rings_rtoses_and_they_their_peers(void **state)
{
	static const bool allowed[GUESTS][GUESTS] = {
		[LINUX] = { [A] = true, [B] = true, [C] = true },
		[A] = { [LINUX] = true, [B] = true },
		[B] = { [LINUX] = true, [A] = true },
	};

	(void)state;
	for (u32 from = 0; from < GUESTS; from++) {
		for (u32 to = 0; to < GUESTS; to++) {
			unsigned before = rung[to];

			assert_int_equal(ring(from, to), allowed[from][to]);
			assert_int_equal(rung[to] - before, allowed[from][to]);
		}
		assert_false(ring(from, GUESTS));
		assert_false(ring(from, UINT32_MAX));
	}
	vms[A].state = GANDALF_STATE_PAUSED;
	assert_false(ring(LINUX, A));
	vms[LINUX].state = GANDALF_STATE_STOPPED;
	assert_false(ring(B, LINUX));
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_rtos_has_its_channels_mapped),
		TEST(every_guest_finds_its_channels),
		TEST(a_start_or_stop_begins_an_epoch),
		TEST(each_core_has_epochs_of_its_own),
		TEST(the_last_of_two_that_begin_at_once_finds_only_its_own),
		TEST(a_guest_that_writes_nonsense_is_not_waited_for),
		TEST(linux_rings_rtoses_and_they_their_peers),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
