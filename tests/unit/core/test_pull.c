/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "pull": a vCPU whose turn ends goes to an idle CPU, and one that spins has siblings
 * run that wait for their turn.
 *
 * Own stand-ins: policy_of(), part_core(), schedule_waits(), schedule_yield() and message_send(),
 * whose answers differ.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/asked.h"
#include "fake/map_at.h"

#include "core/migration.h"
#include "core/policy.h"
#include "core/pull.h"
#include "core/schedule.h"

#define HERE 1u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define NOBODY ~0u

u32 time_tsc_khz = 1000000;
struct gandalf_table system_table;
struct vm *part_vms[GANDALF_CPUS_MAXIMUM], *seat_vms[GANDALF_CPUS_MAXIMUM];
UNITS(message_ranges, struct message_range);

static const struct seat_operations seat;
static const struct gandalf_guest guest = { .vcpu_count = 4, .vcpu_cpus = { 0, 1, 2, 3 } };
static struct vcpu seat_vcpus[4], rtos = { .priority = 5, .shares = true };
static struct vm seats[4];
static u32 policy, called, called_on, yields;
static u32 where[4]; /* the CPUs of the vCPUs */
static bool waits;

u32 policy_of(const struct vm *vm)
{
	assert_ptr_equal(vm->guest, &guest);
	return policy;
}

u32 part_core(const struct gandalf_guest *which, u32 number)
{
	assert_ptr_equal(which, &guest);
	return where[number];
}

bool schedule_waits(struct vcpu *vcpu)
{
	return waits && vcpu != core.current;
}

void schedule_yield(void)
{
	yields++;
}

void message_send(u32 to, u32 message)
{
	assert_int_equal(called, NOBODY);
	called_on = to;
	called = message - MESSAGE_TURN;
}

/* Serves what siblings call for. */
static void is_called(u32 number)
{
	const struct message_range *range = UNITS_FIRST(message_ranges)[0];

	assert_int_equal(range->first, MESSAGE_TURN);
	range->serve(0, number);
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(part_vms, 0, sizeof(part_vms));
	for (u32 i = 0; i < 4; i++) {
		outbox_of(i)->alive = 1;
		where[i] = i;
		seat_vcpus[i] = (struct vcpu){ .state = VCPU_RUNNING, .vm = &seats[i],
					       .of_several = true };
		seats[i] = (struct vm){ .guest = &guest, .vcpus = &seat_vcpus[i], .cpus = 0xf,
					.number = i, .seat = i == 0 ? NULL : &seat };
	}
	where[2] = HERE;
	part_vms[1] = &seats[1];
	part_vms[2] = &seats[2];
	core = (struct core){ .index = HERE, .current = &seat_vcpus[1] };
	policy = GANDALF_PREEMPTION_PULL;
	waits = true;
	called = NOBODY;
	yields = 0;
	asked.housekeeping = 0;
	processor.tsc = 1u << 30;
	return 0;
}

static void a_turn_ends_on_an_idle_cpu(void **state)
{
	(void)state;
	pull_turn_ends(&seats[1]);
	assert_int_equal(seats[1].leaves_for, 0);
	part_page_of(3)->idle = 1;
	pull_turn_ends(&seats[1]);
	assert_int_equal(seats[1].leaves_for, 3 + 1);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
}

static void it_stays_if_it_need_not_go(void **state)
{
	(void)state;
	part_page_of(3)->idle = 1;
	waits = false; /* the other one has halted */
	pull_turn_ends(&seats[1]);
	waits = true;
	pull_turn_ends(&seats[0]); /* which does not move */
	policy = GANDALF_PREEMPTION_ON_DEMAND;
	pull_turn_ends(&seats[1]);
	policy = GANDALF_PREEMPTION_PULL;
	outbox_of(3)->alive = 0;
	pull_turn_ends(&seats[1]);
	outbox_of(3)->alive = 1;
	seats[1].cpus = 0x7; /* and is none of the guest's */
	pull_turn_ends(&seats[1]);
	assert_int_equal(seats[0].leaves_for, 0);
	assert_int_equal(seats[1].leaves_for, 0);
}

static void one_that_spins_calls_one_that_waits(void **state)
{
	(void)state;
	pull_spins(&seats[1]);
	assert_int_equal(called, NOBODY);
	part_page_of(3)->lost[3] = 77;
	pull_spins(&seats[1]);
	assert_int_equal(called, 3);
	assert_int_equal(called_on, 3);
	called = NOBODY;
	policy = GANDALF_PREEMPTION_ON_DEMAND;
	pull_spins(&seats[1]);
	assert_int_equal(called, NOBODY);
}

/* No RTOS gives way, and those here have their turn by the end of this one. */
static void others_are_not_called(void **state)
{
	(void)state;
	part_page_of(3)->lost[3] = 77;
	part_page_of(3)->of_rtos = 1;
	part_page_own()->lost[2] = 78;
	pull_spins(&seats[1]);
	assert_int_equal(called, NOBODY);
}

static void one_that_is_called_has_its_turn(void **state)
{
	(void)state;
	seat_vcpus[1].turn = (u32)core_ran(&seat_vcpus[1]);
	processor.tsc += time_tsc_khz / 20 - 1;
	is_called(2);
	assert_int_equal(yields, 0); /* the turn has just begun */
	processor.tsc++;
	is_called(2);
	assert_int_equal(yields, 1);
	is_called(1); /* has the core */
	is_called(3); /* is elsewhere by now */
	waits = false;
	is_called(2);
	waits = true;
	core.current = &rtos; /* whose turns are no business of Linux's */
	is_called(2);
	assert_int_equal(yields, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(a_turn_ends_on_an_idle_cpu),
		TEST(it_stays_if_it_need_not_go),
		TEST(one_that_spins_calls_one_that_waits),
		TEST(others_are_not_called),
		TEST(one_that_is_called_has_its_turn),
	};

	map_at(LAYOUT_OUTBOXES, OUTBOXES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
