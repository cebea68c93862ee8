/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to a core whose interrupts are a guest's: which interrupts are theirs, when they are
 * taken, and that none waits for a clock that the core does not have.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "fake/asked.h"
#include "fake/map_at.h"

#include "core/direct.h"
#include "core/message_quick.h"
#include "direct_message.h"

enum { TSC_KHZ = 1000000, OTHER_VECTOR = 0x31 };

struct message_window message_window;
u32 time_tsc_khz = TSC_KHZ;

static struct vcpu owner;
/* The vector that the local APIC has in service; how often messages were taken, and are to be. */
static u32 in_service, taken, due;

/*
 * Own stand-ins: apic_in_service(), and of messages message_interrupt(), message_begin() and
 * message_window_is_full(), which count.
 */
u32 apic_in_service(void)
{
	return in_service;
}

void message_interrupt(void)
{
	taken++;
}

void message_begin(void)
{
	due++;
}

void message_window_is_full(void)
{
	fail();
}

static int start(void **state)
{
	(void)state;
	owner = idle_vcpu = (struct vcpu){ .state = VCPU_RUNNING };
	core.direct = core.current = &owner;
	direct_message_attend();
	in_service = VECTOR_APIC_MESSAGE;
	taken = due = 0;
	return 0;
}

static void one_that_interrupts_the_guest_is_taken(void **state)
{
	(void)state;
	assert_true(direct_message(VECTOR_APIC_MESSAGE));
	assert_int_equal(taken, 1);
	core.current = &idle_vcpu;
	idle_vcpu.working = 1; /* it was about to sleep */
	assert_true(direct_message(VECTOR_APIC_MESSAGE));
	assert_int_equal(taken, 2);
	direct_message_attend();
	assert_int_equal(due, 0);
}

/* The guest may have given the 8259s these vectors. */
static void what_else_comes_by_its_vector_is_the_guests(void **state)
{
	(void)state;
	in_service = 0;
	assert_false(direct_message(VECTOR_APIC_MESSAGE));
	in_service = OTHER_VECTOR;
	assert_false(direct_message(OTHER_VECTOR));
	assert_false(direct_message(VECTOR_APIC_MESSAGE));
	assert_int_equal(taken, 0);
}

static void one_amid_work_for_the_guest_waits_for_its_end(void **state)
{
	(void)state;
	owner.working = 1;
	*(u32 *)(LAYOUT_APIC + 0xb0) = 0x77;
	assert_true(direct_message(VECTOR_APIC_MESSAGE));
	assert_int_equal(*(u32 *)(LAYOUT_APIC + 0xb0), 0);
	assert_int_equal(taken, 0);
	assert_true(vcpu_is_notified(&owner));
	owner.working = 0;
	direct_message_attend();
	direct_message_attend();
	assert_int_equal(due, 1);
}

/* A full window ends with a deadline. */
static void none_waits_for_a_window(void **state)
{
	(void)state;
	message_window_limit(true);
	message_window.ends = processor.tsc + message_window.length;
	message_window.taken = MESSAGES_AT_ONCE;
	direct_message_begin();
	assert_int_equal(due, 1); /* those that have waited */
	for (u32 i = 0; i < 2 * MESSAGES_AT_ONCE; i++) {
		assert_true(message_window_has_room(MESSAGES_AT_ONCE));
		message_count(MESSAGES_AT_ONCE);
	}
	direct_message_end();
	assert_int_equal(message_window.length, TSC_KHZ / MESSAGE_WINDOW_RATE);
	assert_int_equal(due, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_that_interrupts_the_guest_is_taken, start),
		cmocka_unit_test_setup(what_else_comes_by_its_vector_is_the_guests, start),
		cmocka_unit_test_setup(one_amid_work_for_the_guest_waits_for_its_end, start),
		cmocka_unit_test_setup(none_waits_for_a_window, start),
	};

	if (!map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	return RUN_TESTS(tests);
}
