/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core that an RTOS takes from vCPUs of Linux: when they leave, where for, and when they come
 * back. What a departure and a request do is test_migration.c's.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "core/migration.h"
#include "core/module.h"
#include "core/policy.h"
#include "core/preemption.h"

#define PLACE 1u
#define HERE 1u
#define CPUS 4u
#define MILLISECOND 1000000u
#define PATIENCE 50000u /* ticks */
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

u32 time_tsc_khz = MILLISECOND;
struct gandalf_table system_table;
struct vm *part_vms[GANDALF_CPUS_MAXIMUM], *seat_vms[GANDALF_CPUS_MAXIMUM];

static struct gandalf_guest *const guest = &system_table.guests[PLACE];
static struct vm seats[GANDALF_CPUS_MAXIMUM];
static struct vcpu linux_vcpu, rtos_vcpu = { .priority = 5 };
static struct vcpu seat_vcpus[GANDALF_CPUS_MAXIMUM];
static const struct seat_operations seat;
static u32 questioned, departures; /* bits of vCPUs; how many */
static u32 busy;                  /* bits of those that cannot leave */
static u32 gone_to;
static int answer;
static bool paused;

/* Where the vCPUs are that are not here. */
static u32 held_by[GANDALF_CPUS_MAXIMUM];

u32 part_core(const struct gandalf_guest *which, u32 number)
{
	assert_ptr_equal(which, guest);
	return part_vms[number] != NULL ? HERE : held_by[number];
}

bool whole_is_paused(const struct vm *vm)
{
	assert_ptr_equal(vm->guest, guest);
	return paused;
}

void seat_depart(struct vm *vm)
{
	gone_to = vm->leaves_for - 1;
	vm->leaves_for = 0;
	if (gone_to == core.index || (busy >> vm->number & 1) != 0)
		return;
	part_vms[vm->number] = NULL;
	part_page_of(gone_to)->refugee_of[vm->number] = part_page_own()->refugee_of[vm->number];
	held_by[vm->number] = gone_to;
	departures++;
}

/* Has the vCPU here again, as its arrival does. */
static void comes_back(void)
{
	part_vms[1] = &seats[1];
	part_page_own()->refugee_of[1] = 0;
}

int part_act(const struct vm *vm, u32 action, u32 number, u32 cpu)
{
	assert_int_equal(action, GANDALF_ACTION_MOVE);
	assert_ptr_equal(vm, &seats[number]);
	assert_int_equal(cpu, HERE);
	questioned |= 1u << number;
	return answer;
}

/* Has the vCPU of another priority run from now on. */
static void runs(struct vcpu *vcpu)
{
	whole_switches(core.current, vcpu);
	core.current = vcpu;
}

/* Lets so much time pass, with the deadline as often as it comes then. */
static void pass(u32 ticks)
{
	processor.tsc += ticks;
	while (asked.deadline->time <= processor.tsc)
		asked.deadline->time = asked.deadline->expire(asked.deadline);
}

static void set_policy(u32 policy)
{
	assert_int_equal(policy_act(&seats[1], policy), policy);
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	system_table = (struct gandalf_table){ .cpus = CPUS, .guest_count = 3 };
	system_table.guests[0] = (struct gandalf_guest){ .kind = GANDALF_KIND_RTOS, .cpu = HERE };
	system_table.guests[2] = (struct gandalf_guest){ .kind = GANDALF_KIND_RTOS, .cpu = 2 };
	*guest = (struct gandalf_guest){
		.kind = GANDALF_KIND_LINUX_SMP, .vcpu_count = 4, .vcpu_cpus = { 0, HERE, 2, 3 },
		.flags = GANDALF_GUEST_MIGRATES, .preemption = GANDALF_PREEMPTION_ON_DEMAND,
	};
	memset(part_vms, 0, sizeof(part_vms));
	memset(seat_vms, 0, sizeof(seat_vms));
	for (u32 i = 0; i < 4; i++) {
		outbox_of(i)->alive = 1;
		seat_vcpus[i] = (struct vcpu){ .state = VCPU_RUNNING };
		seats[i] = (struct vm){ .guest = guest, .index = PLACE, .vcpus = &seat_vcpus[i],
					.seat = &seat };
		seats[i].number = i;
		seat_vms[i] = &seats[i];
	}
	part_vms[1] = &seats[1];
	questioned = departures = busy = 0;
	answer = 0;
	paused = false;
	core = (struct core){ .index = HERE, .current = &linux_vcpu };
	processor.tsc = 1u << 30;
	preemption_watch(true);
	return 0;
}

/* The state of the file under test lasts: nobody is away for the next test. */
static int end(void **state)
{
	(void)state;
	answer = 0;
	runs(&linux_vcpu);
	pass(PATIENCE);
	assert_true(core.unusual);
	return 0;
}

static void it_leaves_when_the_rtos_goes_on(void **state)
{
	(void)state;
	runs(&rtos_vcpu);
	pass(PATIENCE - 1);
	assert_int_equal(departures, 0);
	pass(1);
	assert_int_equal(departures, 1);
	/* CPU 2 is the next, and has an RTOS. */
	assert_int_equal(gone_to, 3);
	pass(10 * MILLISECOND);
	assert_int_equal(departures, 1);
	assert_int_equal(questioned, 0);
}

static u64 waited(u32 number)
{
	return part_page_of(HERE)->waited[number];
}

/* Until it has left, or the RTOS is done; one that has halted does not wait. */
static void it_is_counted_how_long_they_wait(void **state)
{
	(void)state;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_null(part_vms[1]);
	assert_int_equal(waited(1), PATIENCE);
	pass(MILLISECOND);
	runs(&linux_vcpu);
	assert_int_equal(waited(1), PATIENCE);
	set_policy(GANDALF_PREEMPTION_NONE);
	part_vms[0] = &seats[0];
	part_vms[1] = &seats[1];
	part_vms[2] = &seats[2];
	seat_vcpus[2].state = VCPU_HALTED;
	runs(&rtos_vcpu);
	pass(MILLISECOND);
	assert_int_equal(waited(1), PATIENCE);
	runs(&linux_vcpu);
	assert_int_equal(waited(0), MILLISECOND);
	assert_int_equal(waited(1), PATIENCE + MILLISECOND);
	assert_int_equal(waited(2), 0);
}

static void a_short_job_moves_nobody(void **state)
{
	(void)state;
	for (u32 i = 0; i < 10; i++) {
		runs(&rtos_vcpu);
		pass(PATIENCE / 2);
		runs(&linux_vcpu);
		pass(PATIENCE / 4);
	}
	assert_int_equal(departures, 0);
	pass(MILLISECOND);
	assert_false(deadline_is_set(asked.deadline));
}

static void it_comes_back_when_the_rtos_is_done(void **state)
{
	(void)state;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	runs(&linux_vcpu);
	pass(PATIENCE / 2);
	assert_int_equal(questioned, 0);
	/* It begins again too soon for that. */
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(questioned, 0);
	runs(&linux_vcpu);
	answer = GANDALF_ERROR_BUSY;
	pass(PATIENCE);
	assert_int_equal(questioned, 2);
	/* It is asked until it is here. */
	questioned = 0;
	answer = 0;
	pass(PATIENCE);
	assert_int_equal(questioned, 2);
	questioned = 0;
	pass(MILLISECOND);
	assert_int_equal(questioned, 0);
	assert_false(deadline_is_set(asked.deadline));
}

/* Nobody asks for it any more, until the next of the RTOS's jobs is done. */
static void it_is_asked_again_behind_a_job(void)
{
	assert_false(deadline_is_set(asked.deadline));
	questioned = 0;
	paused = false;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	runs(&linux_vcpu);
	pass(PATIENCE);
	assert_int_equal(questioned, 2);
}

static void one_that_does_not_run_is_left_alone(void **state)
{
	(void)state;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	runs(&linux_vcpu);
	answer = GANDALF_ERROR_STATE;
	pass(PATIENCE);
	assert_int_equal(questioned, 2);
	it_is_asked_again_behind_a_job();
}

/* Nobody asks for it again and again. */
static void one_that_is_paused_is_left_alone(void **state)
{
	(void)state;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	runs(&linux_vcpu);
	paused = true;
	pass(MILLISECOND);
	assert_int_equal(questioned, 0);
	it_is_asked_again_behind_a_job();
}

/* It goes on, but only one core has it come back, if that one lives. */
static void the_refugee_of_another_core_is_not_asked_back(void **state)
{
	volatile u32 *refugee_of = &part_page_own()->refugee_of[1];

	(void)state;
	for (u32 alive = 1; alive < 2; alive--) {
		*refugee_of = 2 + 1;
		outbox_of(2)->alive = alive;
		part_vms[1] = &seats[1];
		runs(&rtos_vcpu);
		pass(PATIENCE);
		assert_null(part_vms[1]);
		assert_int_equal(*refugee_of, (alive ? 2 : HERE) + 1);
		runs(&linux_vcpu);
		pass(MILLISECOND);
		assert_int_equal(questioned, alive ? 0 : 2);
	}
}

/* What it was before it could not leave it still is. */
static void one_that_stays_is_no_refugee(void **state)
{
	(void)state;
	busy = 1u << 1;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(departures, 0);
	assert_int_equal(part_page_own()->refugee_of[1], 0);
	busy = 0;
}

/* What is told of a core that Linux's vCPUs do not move from is how long they wait. */
static void a_core_may_be_watched_for_waits_alone(void **state)
{
	(void)state;
	preemption_watch(false);
	runs(&rtos_vcpu);
	assert_false(deadline_is_set(asked.deadline));
	assert_true(part_page_own()->of_rtos);
	processor.tsc += MILLISECOND;
	runs(&linux_vcpu);
	assert_int_equal(waited(1), MILLISECOND);
	assert_false(part_page_own()->of_rtos);
	preemption_watch(true);
}

static void several_leave_one_by_one(void **state)
{
	(void)state;
	part_vms[2] = &seats[2];
	part_vms[3] = &seats[3];
	busy = 1u << 2;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(departures, 1);
	pass(PATIENCE);
	assert_int_equal(departures, 2);
	assert_int_equal(gone_to, 0);
	assert_ptr_equal(part_vms[2], &seats[2]);
	/* The first vCPU is no part, and stays. */
	part_vms[0] = &seats[0];
	seats[0].seat = NULL;
	pass(MILLISECOND);
	assert_ptr_equal(part_vms[0], &seats[0]);
	runs(&linux_vcpu);
	pass(PATIENCE);
	assert_int_equal(questioned, 1u << 1 | 1u << 3);
}

static void it_goes_where_a_core_runs(void **state)
{
	(void)state;
	outbox_of(3)->alive = 0;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(gone_to, 0);
	runs(&linux_vcpu);
	pass(PATIENCE);
	/* That with an RTOS is better than none. */
	comes_back();
	outbox_of(0)->alive = 0;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(gone_to, 2);
	runs(&linux_vcpu);
	pass(PATIENCE);
	comes_back();
	outbox_of(2)->alive = 0;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(departures, 2);
	assert_ptr_equal(part_vms[1], &seats[1]);
}

/* Nobody arrives where an RTOS is at work. Where the vCPU was at first is a refuge, too. */
static void it_goes_where_no_rtos_is_at_work(void **state)
{
	(void)state;
	part_page_of(3)->of_rtos = 1;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(gone_to, 0);
	runs(&linux_vcpu);
	pass(PATIENCE);
	part_page_of(3)->of_rtos = 0;
	comes_back();
	*guest = (struct gandalf_guest){
		.kind = GANDALF_KIND_LINUX_SMP, .vcpu_count = 2, .vcpu_cpus = { HERE, 3 },
		.flags = GANDALF_GUEST_MIGRATES, .preemption = GANDALF_PREEMPTION_ON_DEMAND,
	};
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(departures, 2);
	assert_int_equal(gone_to, 3);
}

/* It leaves when one of them is done, though its own is not. */
static void it_waits_for_a_refuge(void **state)
{
	(void)state;
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		part_page_of(cpu)->of_rtos = cpu != HERE;
	runs(&rtos_vcpu);
	pass(3 * PATIENCE);
	assert_int_equal(departures, 0);
	part_page_of(2)->of_rtos = 0;
	pass(2 * PATIENCE);
	assert_int_equal(departures, 1);
	assert_int_equal(gone_to, 2);
	pass(2 * PATIENCE);
	assert_false(deadline_is_set(asked.deadline));
}

/* It was here in between, and went elsewhere by hand: nobody has it come back. */
static void one_that_was_back_is_no_refugee_any_more(void **state)
{
	(void)state;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	part_page_of(held_by[1])->refugee_of[1] = 0;
	runs(&linux_vcpu);
	pass(MILLISECOND);
	assert_int_equal(questioned, 0);
	assert_false(deadline_is_set(asked.deadline));
}

static void the_latest_policy_counts(void **state)
{
	(void)state;
	assert_int_equal(policy_act(&seats[1], GANDALF_PREEMPTION_ASK),
			 GANDALF_PREEMPTION_ON_DEMAND);
	core.index = 3;
	set_policy(GANDALF_PREEMPTION_NONE);
	core.index = HERE;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(departures, 0);
	runs(&linux_vcpu);
	core.index = 0;
	set_policy(GANDALF_PREEMPTION_ON_DEMAND);
	core.index = HERE;
	runs(&rtos_vcpu);
	pass(PATIENCE);
	assert_int_equal(departures, 1);
	core.index = 3;
	set_policy(GANDALF_PREEMPTION_NONE);
	assert_int_equal(policy_act(&seats[1], GANDALF_PREEMPTION_ASK),
			 GANDALF_PREEMPTION_NONE);
	core.index = HERE;
	/* One that is away comes back all the same. */
	runs(&linux_vcpu);
	pass(PATIENCE);
	assert_int_equal(questioned, 2);
}

static void what_is_no_policy_is_refused(void **state)
{
	(void)state;
	assert_int_equal(policy_act(&seats[1], GANDALF_PREEMPTION_POLICIES),
			 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(policy_act(&seats[1], 0xffffffff), GANDALF_ERROR_ARGUMENT);
	guest->flags = 0;
	assert_int_equal(policy_act(&seats[1], GANDALF_PREEMPTION_NONE),
			 GANDALF_ERROR_ARGUMENT);
	for (u32 cpu = 0; cpu < CPUS; cpu++)
		assert_int_equal(part_page_of(cpu)->policy[PLACE], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
		TEST(it_leaves_when_the_rtos_goes_on),
		TEST(it_is_counted_how_long_they_wait),
		TEST(a_short_job_moves_nobody),
		TEST(it_comes_back_when_the_rtos_is_done),
		TEST(one_that_does_not_run_is_left_alone),
		TEST(one_that_is_paused_is_left_alone),
		TEST(the_refugee_of_another_core_is_not_asked_back),
		TEST(one_that_stays_is_no_refugee),
		TEST(a_core_may_be_watched_for_waits_alone),
		TEST(several_leave_one_by_one),
		TEST(it_goes_where_a_core_runs),
		TEST(it_goes_where_no_rtos_is_at_work),
		TEST(it_waits_for_a_refuge),
		TEST(one_that_was_back_is_no_refugee_any_more),
		TEST(the_latest_policy_counts),
		TEST(what_is_no_policy_is_refused),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
