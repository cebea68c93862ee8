/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "trap": when a vCPU leaves a core with an RTOS and when it comes back. What its kind
 * sees of its kernel is test_kernel_watch.c's.
 *
 * Own stand-ins: policy_of() has the answer of the test.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/asked.h"
#include "fake/map_at.h"

#include "core/migration.h"
#include "core/policy.h"
#include "core/refuge.h"
#include "core/schedule.h"
#include "core/trap_policy.h"

#define HERE 1u
#define ELSEWHERE 3u
#define MOVES 1u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct vm *part_vms[GANDALF_CPUS_MAXIMUM], *seat_vms[GANDALF_CPUS_MAXIMUM];

static const struct seat_operations seat;
static const struct gandalf_guest guest = { .vcpu_count = 2, .vcpu_cpus = { 0, HERE } };
static struct vcpu first_vcpu, vcpu;
static struct vm first = { .guest = &guest, .vcpus = &first_vcpu };
static struct vm vm = { .guest = &guest, .vcpus = &vcpu, .number = MOVES, .seat = &seat };
static u32 policy, refuge, rtos_cpus, watched;
static bool in_kernel;
static const struct vcpu *preferred;

u32 policy_of(const struct vm *which)
{
	assert_ptr_equal(which->guest, &guest);
	return policy;
}

u32 refuge_find(const struct vm *which, u32 of_policy, bool *taken)
{
	assert_ptr_equal(which, &vm);
	*taken = refuge == core.index;
	assert_int_equal(of_policy, GANDALF_PREEMPTION_TRAP);
	return refuge;
}

bool refuge_has_rtos(u32 cpu)
{
	return (rtos_cpus >> cpu & 1) != 0;
}

void schedule_prefer(struct vcpu *which)
{
	preferred = which;
}

static void begin(struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	watched++;
}

static bool is_in_kernel(const struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	return in_kernel;
}

static const struct kernel_watch watch = { .begin = begin, .in_kernel = is_in_kernel };
KERNEL_WATCH(watch);

/* Says from which core the vCPU is away. */
static void is_away_from(u32 cpu)
{
	part_page_own()->refugee_of[MOVES] = cpu + 1;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(part_vms, 0, sizeof(part_vms));
	for (u32 i = 0; i < 4; i++)
		outbox_of(i)->alive = 1;
	first.state = vm.state = GANDALF_STATE_RUNNING;
	vcpu.watched = WATCH_ENTRIES;
	part_vms[0] = &first;
	part_vms[MOVES] = &vm;
	core = (struct core){ .index = HERE, .current = &vcpu };
	policy = GANDALF_PREEMPTION_TRAP;
	refuge = ELSEWHERE;
	rtos_cpus = 1u << HERE;
	watched = vm.leaves_for = vcpu.attention = asked.housekeeping = 0;
	in_kernel = true;
	preferred = NULL;
	return 0;
}

static void goes_to(u32 cpu)
{
	assert_int_equal(vm.leaves_for, cpu + 1);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
	assert_true(vcpu_must_attend(&vcpu));
}

static void stays(void)
{
	assert_int_equal(vm.leaves_for, 0);
	assert_int_equal(asked.housekeeping, 0);
}

static void the_kernel_leaves_a_core_with_an_rtos(void **state)
{
	(void)state;
	assert_int_equal(trap_policy_enters(&vm), WATCH_ENTRIES);
	goes_to(ELSEWHERE);
	assert_int_equal(part_page_own()->refugee_of[MOVES], HERE + 1);
}

static void elsewhere_it_stays(void **state)
{
	(void)state;
	rtos_cpus = 0; /* where a command has brought it */
	assert_int_equal(trap_policy_enters(&vm), 0);
	stays();
	rtos_cpus = 1u << HERE;
	refuge = HERE; /* there is no other core */
	assert_int_equal(trap_policy_enters(&vm), WATCH_ENTRIES);
	stays();
	assert_int_equal(part_page_own()->refugee_of[MOVES], 0);
}

static void the_watch_ends_with_the_policy(void **state)
{
	(void)state;
	policy = GANDALF_PREEMPTION_ON_DEMAND;
	assert_int_equal(trap_policy_enters(&vm), 0);
	stays();
	is_away_from(ELSEWHERE); /* from where it comes back first */
	assert_int_equal(trap_policy_enters(&vm), WATCH_ENTRIES | WATCH_RETURN);
	stays();
}

static void a_return_to_a_process_brings_it_back(void **state)
{
	(void)state;
	is_away_from(ELSEWHERE);
	part_page_of(ELSEWHERE)->of_rtos = 1;
	trap_policy_returns(&vm);
	stays();
	part_page_of(ELSEWHERE)->of_rtos = 0;
	trap_policy_returns(&vm);
	goes_to(ELSEWHERE);
}

/* Also one that did not get away, and counts as a refugee of its own core. */
static void one_that_is_not_away_stays(void **state)
{
	(void)state;
	trap_policy_returns(&vm);
	is_away_from(HERE);
	trap_policy_returns(&vm);
	stays();
	assert_int_equal(trap_policy_enters(&vm), WATCH_ENTRIES);
	goes_to(ELSEWHERE);
}

static void a_kernel_that_runs_leaves_when_the_policy_begins(void **state)
{
	(void)state;
	in_kernel = false;
	trap_policy_begins();
	assert_int_equal(watched, 1); /* the first vCPU does not move */
	stays();
	in_kernel = true;
	is_away_from(ELSEWHERE);
	trap_policy_begins();
	stays();
	is_away_from(HERE);
	trap_policy_begins();
	assert_int_equal(watched, 3);
	goes_to(ELSEWHERE);
	trap_policy_departs(&vm);
	assert_int_equal(watched, 4);
}

/* One that is being started has nothing yet that could be watched. */
static void a_vcpu_that_does_not_run_is_left_alone(void **state)
{
	(void)state;
	vm.state = GANDALF_STATE_STARTING;
	trap_policy_begins();
	assert_int_equal(watched, 0);
	stays();
}

static void one_is_looked_at_each_time(void **state)
{
	static struct vm other;

	(void)state;
	other = vm;
	other.number = 5;
	part_vms[5] = &other;
	in_kernel = false;
	trap_policy_begins();
	trap_policy_begins();
	assert_int_equal(watched, 2);
	part_vms[5] = NULL;
	trap_policy_begins();
	assert_int_equal(watched, 3);
}

static void one_that_begins_anew_away_comes_back(void **state)
{
	(void)state;
	assert_int_equal(trap_policy_starts(&vm), 0);
	is_away_from(ELSEWHERE);
	assert_int_equal(trap_policy_starts(&vm), WATCH_ENTRIES | WATCH_RETURN);
	outbox_of(ELSEWHERE)->alive = 0; /* and has nowhere to come back to */
	assert_int_equal(trap_policy_starts(&vm), 0);
	trap_policy_returns(&vm);
	stays();
}

static void a_kernel_that_is_away_comes_first(void **state)
{
	(void)state;
	trap_policy_arrives(&vm);
	assert_null(preferred); /* a process */
	vcpu.watched |= WATCH_RETURN;
	trap_policy_arrives(&vm);
	assert_ptr_equal(preferred, &vcpu);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(the_kernel_leaves_a_core_with_an_rtos),
		TEST(elsewhere_it_stays),
		TEST(the_watch_ends_with_the_policy),
		TEST(a_return_to_a_process_brings_it_back),
		TEST(one_that_is_not_away_stays),
		TEST(a_kernel_that_runs_leaves_when_the_policy_begins),
		TEST(a_vcpu_that_does_not_run_is_left_alone),
		TEST(one_is_looked_at_each_time),
		TEST(one_that_begins_anew_away_comes_back),
		TEST(a_kernel_that_is_away_comes_first),
	};

	map_at(LAYOUT_OUTBOXES, OUTBOXES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
