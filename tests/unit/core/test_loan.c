/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When Linux has the core although an RTOS comes first: to end the VMM's work for a vCPU that is to
 * leave, and, by the policy "delayed", until it holds no spin lock.
 *
 * Own stand-ins: tenure_ends(), which is counted.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/at_work.h"
#include "fake/asked.h"
#include "fake/map_at.h"

#include "core/loan.h"
#include "core/part.h"

#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)
#define MICROSECOND 1000u
#define LIMIT_US 52u

u32 time_tsc_khz = 1000 * MICROSECOND;
struct gandalf_table system_table;

static const struct gandalf_guest guest = { .vcpu_count = 2, .delay_limit_us = LIMIT_US };
static struct gandalf_shared shared;
static struct vm vm = { .guest = &guest, .number = 1 };
static struct vcpu rtos = { .priority = 5, .state = VCPU_RUNNING };
static struct vcpu *const linux_vcpu = &vcpus[1];
static u32 ends;

void tenure_ends(void)
{
	ends++;
}

/* Lets so much time pass, with the deadline if it comes then. */
static void pass(u32 ticks)
{
	processor.tsc += ticks;
	if (asked.deadline->time <= processor.tsc)
		asked.deadline->time = asked.deadline->expire(asked.deadline);
}

/* Returns who has the core when the RTOS comes first, as the schedule does. */
static struct vcpu *holder(void)
{
	return turn_holder(&rtos);
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	core = (struct core){ .index = 1, .current = &rtos, .vcpu_count = 2 };
	vcpus[0] = rtos = (struct vcpu){ .priority = 5, .state = VCPU_RUNNING };
	*linux_vcpu = (struct vcpu){ .state = VCPU_RUNNING, .vm = &vm, .shared = &shared };
	interrupted_at_work(linux_vcpu, false);
	shared.locks = 0;
	processor.tsc = 1u << 30;
	linux_first = 0;
	loan_init();
	return 0;
}

static void it_is_lent_until_the_work_is_done(void **state)
{
	(void)state;
	part_page_own()->of_rtos = 1;
	interrupted_at_work(linux_vcpu, true);
	assert_ptr_equal(holder(), &rtos);
	loan_begin();
	assert_true(loan_runs());
	assert_int_equal(rtos.counters[COUNTER_loans], 1);
	assert_ptr_equal(holder(), linux_vcpu);
	core.current = linux_vcpu;
	pass(3 * MICROSECOND);
	assert_ptr_equal(holder(), linux_vcpu);
	interrupted_at_work(linux_vcpu, false);
	assert_ptr_equal(holder(), &rtos);
	assert_false(loan_runs());
}

static void a_loan_has_an_end(void **state)
{
	(void)state;
	part_page_own()->of_rtos = 1;
	interrupted_at_work(linux_vcpu, true);
	loan_begin();
	assert_ptr_equal(holder(), linux_vcpu);
	pass(10 * MICROSECOND - 1);
	assert_ptr_equal(holder(), linux_vcpu);
	pass(1);
	assert_ptr_equal(holder(), &rtos);
	assert_false(loan_runs());
}

/* An interrupt of the RTOS has the core at once. */
static void what_comes_for_the_rtos_ends_it(void **state)
{
	(void)state;
	part_page_own()->of_rtos = 1;
	interrupted_at_work(linux_vcpu, true);
	loan_begin();
	assert_ptr_equal(holder(), linux_vcpu);
	vcpu_notify_later(&rtos, true);
	assert_ptr_equal(holder(), linux_vcpu);
	vcpu_notify(&rtos);
	assert_ptr_equal(holder(), &rtos);
	vcpu_notice(&rtos);
	assert_ptr_equal(holder(), &rtos);
}

/* Then nobody gives the core back, and the RTOS's time has ended all the same. */
static void one_that_is_paused_has_the_core_no_more(void **state)
{
	(void)state;
	ends = 0;
	part_page_own()->of_rtos = 1;
	interrupted_at_work(linux_vcpu, true);
	loan_begin();
	assert_ptr_equal(holder(), linux_vcpu);
	/* Also if somebody looks behind the loan's end only. */
	pass(10 * MICROSECOND);
	assert_int_equal(ends, 0);
	assert_ptr_equal(turn_holder(linux_vcpu), linux_vcpu);
	assert_int_equal(ends, 1);
	assert_false(loan_runs());
	assert_ptr_equal(turn_holder(&idle_vcpu), &idle_vcpu);
	assert_int_equal(ends, 1);
}

/* Its deadline may be late, behind others. */
static void a_loan_ends_by_the_clock(void **state)
{
	(void)state;
	part_page_own()->of_rtos = 1;
	interrupted_at_work(linux_vcpu, true);
	loan_begin();
	processor.tsc += 10 * MICROSECOND;
	assert_ptr_equal(holder(), &rtos);
}

static void nobody_waits_unless_a_policy_says_so(void **state)
{
	(void)state;
	core.current = linux_vcpu;
	shared.locks = 1;
	assert_ptr_equal(holder(), &rtos);
	delay_allow(true);
	assert_ptr_equal(holder(), linux_vcpu);
	delay_allow(false);
	assert_ptr_equal(holder(), &rtos);
}

static void it_waits_until_the_locks_are_free(void **state)
{
	(void)state;
	core.current = linux_vcpu;
	delay_allow(true);
	assert_ptr_equal(holder(), &rtos);
	assert_int_equal(rtos.counters[COUNTER_delays], 0);
	shared.locks = 2;
	assert_ptr_equal(holder(), linux_vcpu);
	vcpu_notice(linux_vcpu);
	pass(5 * MICROSECOND);
	/* Its interrupt has somebody look again. */
	assert_true(vcpu_must_attend(linux_vcpu));
	assert_ptr_equal(holder(), linux_vcpu);
	shared.locks = 0;
	assert_ptr_equal(holder(), &rtos);
	assert_int_equal(rtos.counters[COUNTER_delays], 1);
	assert_int_equal(rtos.counters[COUNTER_delay_limits], 0);
}

/* However many locks Linux says that it holds. */
static void it_does_not_wait_for_longer(void **state)
{
	(void)state;
	core.current = linux_vcpu;
	delay_allow(true);
	shared.locks = ~0u;
	vcpu_notice(linux_vcpu);
	for (u32 i = 0; i < LIMIT_US / 5; i++) {
		assert_ptr_equal(holder(), linux_vcpu);
		pass(5 * MICROSECOND);
	}
	/* The last look is when the limit is over, and not when the next would be due. */
	assert_ptr_equal(holder(), linux_vcpu);
	pass(2 * MICROSECOND);
	assert_true(vcpu_must_attend(linux_vcpu));
	assert_ptr_equal(holder(), &rtos);
	assert_int_equal(rtos.counters[COUNTER_delays], 1);
	assert_int_equal(rtos.counters[COUNTER_delay_limits], 1);
}

/* An RTOS that has begun is not kept from the core any more, nor is one behind a halted vCPU, the
 * idle one or another RTOS. */
static void only_a_dispatch_waits(void **state)
{
	static struct vcpu other = { .priority = 3, .state = VCPU_RUNNING };

	(void)state;
	delay_allow(true);
	shared.locks = 1;
	core.current = linux_vcpu;
	part_page_own()->of_rtos = 1;
	assert_ptr_equal(holder(), &rtos);
	part_page_own()->of_rtos = 0;
	linux_vcpu->state = VCPU_HALTED;
	assert_ptr_equal(holder(), &rtos);
	core.current = &idle_vcpu;
	assert_ptr_equal(holder(), &rtos);
	core.current = &other;
	assert_ptr_equal(holder(), &rtos);
	assert_int_equal(rtos.counters[COUNTER_delays], 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(it_is_lent_until_the_work_is_done),
		TEST(a_loan_has_an_end),
		TEST(what_comes_for_the_rtos_ends_it),
		TEST(one_that_is_paused_has_the_core_no_more),
		TEST(a_loan_ends_by_the_clock),
		TEST(nobody_waits_unless_a_policy_says_so),
		TEST(it_waits_until_the_locks_are_free),
		TEST(it_does_not_wait_for_longer),
		TEST(only_a_dispatch_waits),
	};

	map_at(LAYOUT_OUTBOXES, OUTBOXES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
