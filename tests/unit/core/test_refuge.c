/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a vCPU goes on that leaves a core with an RTOS, by policy. That it waits for such a core is
 * test_preemption.c's.
 *
 * Own stand-ins: pull_idle_cpu() has the CPUs of the test.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"

#include "core/module.h"
#include "core/part.h"
#include "core/pull.h"
#include "core/refuge.h"

#define HERE 1u
#define OTHER_RTOS 2u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct gandalf_table system_table;
struct vm *part_vms[GANDALF_CPUS_MAXIMUM];

static const struct gandalf_guest guest = { .vcpu_count = 4, .vcpu_cpus = { 0, HERE, 2, 3 } };
static const struct vm vm = { .guest = &guest, .number = 1, .cpus = 0xf };
static u32 idle_cpus;

u32 pull_idle_cpu(u32 cpus)
{
	cpus &= idle_cpus;
	return cpus != 0 ? (u32)__builtin_ctz(cpus) : core.index;
}

static u32 refuge(u32 policy)
{
	bool taken = false;
	u32 found = refuge_find(&vm, policy, &taken);

	assert_false(taken);
	return found;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	system_table = (struct gandalf_table){ .guest_count = 3 };
	for (u32 i = 0; i < 3; i++)
		system_table.guests[i] = (struct gandalf_guest){
			.kind = i == 0 ? GANDALF_KIND_LINUX_SMP : GANDALF_KIND_RTOS, .cpu = i,
		};
	for (u32 i = 0; i < 4; i++)
		outbox_of(i)->alive = 1;
	core = (struct core){ .index = HERE };
	idle_cpus = 0;
	refuge_init();
	return 0;
}

static void it_is_known_where_rtoses_are(void **state)
{
	(void)state;
	assert_false(refuge_has_rtos(0));
	assert_true(refuge_has_rtos(HERE));
	assert_true(refuge_has_rtos(OTHER_RTOS));
	assert_false(refuge_has_rtos(3));
}

/* A kernel that is to keep away from RTOSes does not go to an idle core that another one may take;
 * by "pull" that is better than to wait. */
static void an_idle_core_comes_first(void **state)
{
	(void)state;
	idle_cpus = 1u << OTHER_RTOS | 1u << 0;
	assert_int_equal(refuge(GANDALF_PREEMPTION_PULL), 0);
	assert_int_equal(refuge(GANDALF_PREEMPTION_TRAP), 0);
	assert_int_equal(refuge(GANDALF_PREEMPTION_ON_DEMAND), 3);
	idle_cpus = 1u << OTHER_RTOS;
	assert_int_equal(refuge(GANDALF_PREEMPTION_PULL), OTHER_RTOS);
	assert_int_equal(refuge(GANDALF_PREEMPTION_TRAP), 3);
}

static void one_with_an_rtos_is_better_than_none(void **state)
{
	(void)state;
	outbox_of(0)->alive = outbox_of(3)->alive = 0;
	assert_int_equal(refuge(GANDALF_PREEMPTION_TRAP), OTHER_RTOS);
	outbox_of(OTHER_RTOS)->alive = 0;
	assert_int_equal(refuge(GANDALF_PREEMPTION_TRAP), HERE);
}

static void it_is_said_if_rtoses_are_at_work_everywhere(void **state)
{
	bool taken = false;

	(void)state;
	for (u32 i = 0; i < 4; i++)
		part_page_of(i)->of_rtos = 1;
	assert_int_equal(refuge_find(&vm, GANDALF_PREEMPTION_ON_DEMAND, &taken), HERE);
	assert_true(taken);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(it_is_known_where_rtoses_are),
		TEST(an_idle_core_comes_first),
		TEST(one_with_an_rtos_is_better_than_none),
		TEST(it_is_said_if_rtoses_are_at_work_everywhere),
	};

	map_at(LAYOUT_OUTBOXES, OUTBOXES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
