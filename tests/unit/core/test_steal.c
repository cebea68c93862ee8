/* SPDX-License-Identifier: Apache-2.0 */
/* For how long vCPUs of a Linux with several could run while others had the core. */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/asked.h"
#include "fake/map_at.h"

#include "core/part.h"
#include "core/steal.h"

#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

u32 time_tsc_khz = 1000000;
struct gandalf_table system_table;

static const struct gandalf_guest several = { .vcpu_count = 2 }, one = { .vcpu_count = 1 };
static struct gandalf_shared shared[3];
static struct vm vms_made[] = {
	{ .guest = &several, .number = 0 }, { .guest = &several, .number = 1 }, { .guest = &one },
};
static struct vcpu first, second, rtos = { .priority = 5 };

static void switch_after(u32 ticks, struct vcpu *from, struct vcpu *to)
{
	processor.tsc += ticks;
	steal_switches(from, to);
	core.current = to;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(shared, 0, sizeof(shared));
	core = (struct core){ .index = 1, .current = &idle_vcpu };
	first = second = (struct vcpu){ .state = VCPU_RUNNING, .of_several = true };
	first.vm = &vms_made[0];
	first.shared = &shared[0];
	second.vm = &vms_made[1];
	second.shared = &shared[1];
	rtos.vm = &vms_made[2];
	rtos.shared = &shared[2];
	processor.tsc = 1000;
	return 0;
}

static void an_rtos_steals(void **state)
{
	(void)state;
	switch_after(10, &idle_vcpu, &first);
	assert_int_equal(shared[0].stolen, 0);
	switch_after(50, &first, &rtos);
	assert_true(part_page_own()->lost[0] != 0);
	switch_after(300, &rtos, &first);
	assert_int_equal(shared[0].stolen, 300);
	assert_int_equal(part_page_own()->lost[0], 0);
	assert_int_equal(shared[2].stolen, 0);
	assert_int_equal(part_page_own()->lost[2], 0);
}

/* Each of them waits for the other's turns. */
static void siblings_steal(void **state)
{
	(void)state;
	switch_after(1, &idle_vcpu, &first);
	switch_after(100, &first, &second);
	switch_after(70, &second, &first);
	switch_after(30, &first, &second);
	assert_int_equal(shared[0].stolen, 70);
	assert_int_equal(shared[1].stolen, 30);
}

/* What it sleeps is nobody's theft. */
static void one_that_halts_loses_nothing(void **state)
{
	(void)state;
	switch_after(1, &idle_vcpu, &first);
	first.state = VCPU_HALTED;
	switch_after(10, &first, &rtos);
	first.state = VCPU_RUNNING;
	switch_after(1000, &rtos, &first);
	assert_int_equal(shared[0].stolen, 0);
}

/* The count goes with the vCPU. Linux sees at once what it knew: less would stop its clocks. */
static void what_was_lost_elsewhere_counts(void **state)
{
	(void)state;
	part_page_of(3)->stolen[1] = 5ull << 32;
	steal_arrives(&second, 3);
	assert_true(shared[1].stolen == 5ull << 32);
	part_page_own()->stolen[1] = 5ull << 32;
	part_page_own()->lost[1] = processor.tsc;
	switch_after(7, &idle_vcpu, &second);
	assert_true(shared[1].stolen == (5ull << 32) + 7);
}

/* A vCPU that was stopped amid waiting begins without that, and with what it had before. */
static void a_life_begins_without_waiting(void **state)
{
	(void)state;
	part_page_own()->stolen[1] = 44;
	part_page_own()->lost[1] = 7;
	steal_begins(&second);
	assert_int_equal(shared[1].stolen, 44);
	switch_after(1000, &idle_vcpu, &second);
	assert_int_equal(shared[1].stolen, 44);
}

static void it_is_said_whether_the_core_is_idle(void **state)
{
	(void)state;
	switch_after(1, &first, &idle_vcpu);
	assert_int_equal(part_page_own()->idle, 1);
	switch_after(1, &idle_vcpu, &rtos);
	assert_int_equal(part_page_own()->idle, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(an_rtos_steals),
		TEST(siblings_steal),
		TEST(one_that_halts_loses_nothing),
		TEST(what_was_lost_elsewhere_counts),
		TEST(a_life_begins_without_waiting),
		TEST(it_is_said_whether_the_core_is_idle),
	};

	map_at(LAYOUT_OUTBOXES, OUTBOXES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
