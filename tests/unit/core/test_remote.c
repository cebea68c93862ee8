/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests of another core, as this core knows them: what is done to one is a message or an order to
 * its core, and what is known of one is what its core has said.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "core/core.h"
#include "core/guest_kind.h"
#include "core/message.h"
#include "core/module.h"
#include "core/relay.h"
#include "core/remote.h"
#include "core/trace.h"

/* The place of the guest, and the core that it is of. */
#define PLACE 2u
#define OTHER 1u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define LAST_VCPU (PLACES_MAXIMUM - 1)

struct vm vms[PLACES_MAXIMUM];
struct vcpu vcpus[PLACES_MAXIMUM];
struct gandalf_table system_table;

static struct gandalf_guest guest;
static struct vm *const vm = &vms[PLACE];
static u32 sent[MESSAGES]; /* how often */
static u32 ordered, orders;
static int order_result;
static unsigned kicks;

/* Own stand-ins: message_send() sends to the other core only. */
void message_send(u32 to, u32 message)
{
	assert_int_equal(to, OTHER);
	sent[message]++;
}

int order_post(const struct vm *which, u32 action)
{
	assert_ptr_equal(which, vm);
	ordered = action;
	orders++;
	return order_result;
}

void relay_kick(void)
{
	kicks++;
}

void processor_sleep(void)
{
	fail();
}

static u32 sent_in_all(void)
{
	u32 count = 0;

	for (u32 i = 0; i < MESSAGES; i++)
		count += sent[i];
	return count;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(vms, 0, sizeof(vms));
	memset(vcpus, 0, sizeof(vcpus));
	memset(sent, 0, sizeof(sent));
	guest = (struct gandalf_guest){.cpu = OTHER, .kind = GANDALF_KIND_RTOS, .priority = 10};
	vm->guest = &guest;
	vm->index = PLACE;
	core.index = core.remote_count = 0;
	orders = kicks = 0;
	order_result = 0;
	outbox_of(OTHER)->started = 1;
	return 0;
}

static void one_is_known_until_its_core_says_more(void **state)
{
	(void)state;
	remote_create(vm);
	assert_ptr_equal(vm->vcpus, &vcpus[LAST_VCPU]);
	assert_ptr_equal(vm->vcpus->trace, trace_ring_of(vm->index));
	assert_int_equal(core.remote_count, 1);
	assert_int_equal(vm->state, GANDALF_STATE_STARTING);
	assert_true(vm->kind->real_time);
	assert_int_equal(vm->vcpus->priority, 10);
	outbox_of(OTHER)->started = 0;
	guest.kind = GANDALF_KIND_LINUX_SHARED;
	remote_create(vm);
	assert_ptr_equal(vm->vcpus, &vcpus[LAST_VCPU - 1]);
	assert_int_equal(vm->state, GANDALF_STATE_OFF);
	assert_false(vm->kind->real_time);
}

/* What is known of its state is older than the ring. */
static void a_ring_is_sent_whatever_is_known(void **state)
{
	(void)state;
	remote_create(vm);
	for (vm->state = 0; vm->state <= GANDALF_STATE_PAUSED; vm->state++) {
		u32 before = sent[MESSAGE_DOORBELL + PLACE];

		assert_int_equal(vm->kind->ring(vm), 0);
		assert_int_equal(sent[MESSAGE_DOORBELL + PLACE], before + 1);
	}
	outbox_of(OTHER)->started = 0;
	assert_int_equal(vm->kind->ring(vm), (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(sent_in_all(), GANDALF_STATE_PAUSED + 1);
}

/* Nothing is sent that nobody would see: who rings or commands is told at once. */
static void a_core_that_has_stopped_is_sent_nothing(void **state)
{
	(void)state;
	remote_create(vm);
	outbox_of(OTHER)->started = 0; /* with ended, which cores.c says of it */
	outbox_of(OTHER)->ended = 1;
	assert_int_equal(vm->kind->ring(vm), (u32)GANDALF_ERROR_ARGUMENT);
	assert_int_equal(vm->kind->act(vm, GANDALF_ACTION_START), GANDALF_ERROR_STATE);
	assert_int_equal(sent_in_all() + orders, 0);
}

static void an_action_is_an_order(void **state)
{
	(void)state;
	remote_create(vm);
	assert_int_equal(vm->kind->act(vm, GANDALF_ACTION_STOP), 0);
	assert_int_equal(ordered, GANDALF_ACTION_STOP);
	order_result = GANDALF_ERROR_BUSY;
	assert_int_equal(vm->kind->act(vm, GANDALF_ACTION_START), GANDALF_ERROR_BUSY);
	assert_int_equal(orders, 2);
}

static void lines_and_bytes_are_its_cores(void **state)
{
	(void)state;
	remote_create(vm);
	vm->vcpus->operations->interrupt(vm->vcpus, 8);
	assert_int_equal(sent[MESSAGE_LINE + 8], 1);
	assert_int_equal(sent_in_all(), 1);
	vm->vcpus->operations->console(vm->vcpus);
	assert_int_equal(kicks, 1);
	assert_int_equal(vm->vcpus->operations->instruction(vm->vcpus, NULL, 15), 0);
}

/* The function that serves a message, as message.c finds it. */
static void state_serve(u32 from)
{
	(*UNITS_FIRST(message_ranges))->serve(from, PLACE);
}

static void its_core_alone_says_what_it_is(void **state)
{
	volatile struct guest_notice *notice = &guest_notices_of(OTHER)[PLACE];

	(void)state;
	assert_int_equal((*UNITS_FIRST(message_ranges))->first, MESSAGE_STATE);
	remote_create(vm);
	notice->state = GANDALF_STATE_RUNNING;
	notice->fault_restarts = 3;
	notice->started = 1ull << 40;
	notice->ran = 5ull << 33;
	notice->counters[COUNTERS - 1] = 77;
	guest_notices_of(OTHER + 1)[PLACE].state = GANDALF_STATE_STOPPED;
	state_serve(OTHER + 1);
	assert_int_equal(vm->state, GANDALF_STATE_STARTING);
	state_serve(OTHER);
	assert_int_equal(vm->state, GANDALF_STATE_RUNNING);
	assert_int_equal(vm->fault_restarts, 3);
	assert_true(vm->started == 1ull << 40 && vm->vcpus->ran == 5ull << 33);
	assert_int_equal(vm->vcpus->counters[COUNTERS - 1], 77);
	assert_int_equal(vm->vcpus->counters[0], 0);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_is_known_until_its_core_says_more),
		TEST(a_ring_is_sent_whatever_is_known),
		TEST(a_core_that_has_stopped_is_sent_nothing),
		TEST(an_action_is_an_order),
		TEST(lines_and_bytes_are_its_cores),
		TEST(its_core_alone_says_what_it_is),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
