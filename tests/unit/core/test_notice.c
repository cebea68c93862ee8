/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core says of its guests to the others, and when.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/asked.h"
#include "fake/map_at.h"

#include "core/message.h"
#include "core/module.h"
#include "core/notice.h"

enum { CORES = 2, OWN = 1, GUESTS = 2 };

#define OUTBOXES (CORES * OUTBOX_PAGES * PAGE_SIZE)
#define TSC_KHZ 1000000u
/* More than the time from one guest's turn to the next one's. */
#define WHILE (TSC_KHZ * 1000ull)

struct vm vms[PLACES_MAXIMUM];
struct gandalf_table system_table;
u32 time_tsc_khz = TSC_KHZ;

static struct gandalf_guest guests[GUESTS];

static int start_as(u32 index)
{
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(vms, 0, sizeof(vms));
	memset(&asked, 0, sizeof(asked));
	core.index = index;
	core.vcpu_count = GUESTS;
	system_table.cpus = CORES;
	for (u32 i = 0; i < GUESTS; i++) {
		vms[i] = (struct vm){ .vcpus = &vcpus[i], .guest = &guests[i], .index = i,
				      .state = GANDALF_STATE_RUNNING };
		vcpus[i].vm = &vms[i];
		vcpus[i].counters[COUNTERS - 1] = 0;
	}
	notice_init();
	return 0;
}

static int start(void **state)
{
	(void)state;
	return start_as(OWN);
}

static int start_first(void **state)
{
	(void)state;
	return start_as(0);
}

/* Each guest has had its turn. */
static void time_passes(void)
{
	for (u32 i = 0; i < GUESTS; i++) {
		u64 next = asked.deadline->expire(asked.deadline);

		assert_in_range(next - rdtsc(), 1, WHILE);
	}
}

static u32 told(u32 place)
{
	return guest_notices_of(core.index)[place].state;
}

static void each_guest_is_told_of_in_turn(void **state)
{
	(void)state;
	vcpus[1].counters[COUNTERS - 1] = 7;
	time_passes();
	assert_int_equal(told(0), GANDALF_STATE_RUNNING);
	assert_int_equal(told(1), GANDALF_STATE_RUNNING);
	assert_int_equal(guest_notices_of(OWN)[1].counters[COUNTERS - 1], 7);
	assert_int_equal(asked.sent[0][MESSAGE_STATE], 1);
	assert_int_equal(asked.sent[0][MESSAGE_STATE + 1], 1);
}

/* Once a second whatever waits, since a guest may print without end. */
static void an_end_is_told_also_while_output_is_left(void **state)
{
	(void)state;
	vms[0].state = GANDALF_STATE_OFF;
	asked.output_left = true;
	assert_false(notice_attend());
	assert_int_equal(told(0), 0);
	time_passes();
	assert_int_equal(told(0), GANDALF_STATE_OFF);
}

static void the_idle_vcpu_tells_what_has_changed_at_once(void **state)
{
	(void)state;
	time_passes();
	memset(asked.sent, 0, sizeof(asked.sent));
	vms[1].state = GANDALF_STATE_OFF;
	assert_false(notice_attend());
	assert_int_equal(told(1), GANDALF_STATE_OFF);
	assert_int_equal(asked.sent[0][MESSAGE_STATE], 0);
	assert_int_equal(asked.sent[0][MESSAGE_STATE + 1], 1);
}

/* All that wakes the idle vCPU would wait for it otherwise. */
static void output_is_looked_at_only_for_a_change(void **state)
{
	(void)state;
	time_passes();
	assert_false(notice_attend());
	assert_int_equal(asked.output_asked, 0);
	vms[1].state = GANDALF_STATE_OFF;
	assert_false(notice_attend());
	assert_int_equal(asked.output_asked, 1);
}

static void the_first_core_tells_at_once_and_ends_the_machine(void **state)
{
	(void)state;
	vms[0].state = GANDALF_STATE_OFF;
	asked.output_left = true;
	assert_true(notice_attend());
	assert_int_equal(told(0), GANDALF_STATE_OFF);
}

static void a_core_that_gives_up_stops_all(void **state)
{
	(void)state;
	asked.output_left = true;
	notice_give_up();
	assert_int_equal(told(0), GANDALF_STATE_STOPPED);
	assert_int_equal(told(1), GANDALF_STATE_STOPPED);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_guest_is_told_of_in_turn),
		TEST(an_end_is_told_also_while_output_is_left),
		TEST(the_idle_vcpu_tells_what_has_changed_at_once),
		TEST(output_is_looked_at_only_for_a_change),
		cmocka_unit_test_setup(the_first_core_tells_at_once_and_ends_the_machine,
				       start_first),
		TEST(a_core_that_gives_up_stops_all),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
