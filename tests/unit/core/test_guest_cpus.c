/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPUs of a guest in an image for guests with several vCPUs: what the system table may say.
 */
#include "unit.h"

#include <string.h>

#include "abi/control.h"
#include "guest_cpus.h"

static struct gandalf_table table = { .cpus = 4, .guest_count = 1 };

static struct gandalf_guest guest_of(u32 kind, u32 count, const char *cpus)
{
	struct gandalf_guest guest = { .kind = kind, .vcpu_count = count };

	if (kind == GANDALF_KIND_LINUX_SMP) {
		guest.slice_us = GANDALF_SLICE_MINIMUM;
		guest.delay_limit_us = GANDALF_DELAY_MINIMUM;
	}

	for (u32 i = 0; cpus[i] != '\0'; i++)
		guest.vcpu_cpus[i] = (u8)(cpus[i] - '0');
	guest.cpu = guest.vcpu_cpus[0];
	return guest;
}

static bool accepted(u32 kind, u32 count, const char *cpus)
{
	struct gandalf_guest guest = guest_of(kind, count, cpus);

	return guest_has_cpus(&table, &guest);
}

static void one_vcpu_is_on_any_cpu(void **state)
{
	(void)state;
	assert_true(accepted(GANDALF_KIND_RTOS, 1, "0"));
	assert_true(accepted(GANDALF_KIND_LINUX_SHARED, 1, "3"));
	assert_false(accepted(GANDALF_KIND_RTOS, 1, "4"));
}

static void several_are_on_cpus_that_exist(void **state)
{
	(void)state;
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 2, "01"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 4, "0321"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 2, "31"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 2, "11"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 3, "010"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 8, "00000000"));
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 2, "04"));
}

static void any_cpu_comes_first(void **state)
{
	(void)state;
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 2, "10"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 3, "210"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 3, "100"));
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 2, "40"));
}

static void the_kind_says_whether_there_are_several(void **state)
{
	(void)state;
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 1, "0"));
	assert_false(accepted(GANDALF_KIND_LINUX_SHARED, 2, "01"));
	assert_false(accepted(GANDALF_KIND_RTOS, 2, "01"));
	assert_false(accepted(GANDALF_KIND_LINUX_DEDICATED, 2, "01"));
}

static void there_are_one_to_eight(void **state)
{
	(void)state;
	assert_false(accepted(GANDALF_KIND_RTOS, 0, "0"));
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 0, "01"));
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, GANDALF_CPUS_MAXIMUM + 1, "0123"));
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, UINT32_MAX, "0123"));
}

static void the_first_is_the_guests(void **state)
{
	struct gandalf_guest guest = guest_of(GANDALF_KIND_LINUX_SMP, 2, "12");

	(void)state;
	assert_true(guest_has_cpus(&table, &guest));
	guest.cpu = 2;
	assert_false(guest_has_cpus(&table, &guest));
}

/* Each but the first takes the place of a guest there. */
static void a_cpu_has_room_for_nine(void **state)
{
	(void)state;
	table.guest_count = 2;
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 8, "00000000"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 8, "01111111"));
	table.guest_count = 3;
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 8, "00000000"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 8, "01111111"));
	table.guest_count = 4;
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 8, "01111111"));
	table.guest_count = GANDALF_GUESTS_MAXIMUM;
	assert_true(accepted(GANDALF_KIND_RTOS, 1, "0"));
	assert_true(accepted(GANDALF_KIND_LINUX_SMP, 4, "0123"));
	assert_false(accepted(GANDALF_KIND_LINUX_SMP, 2, "00"));
	table.guest_count = 1;
}

static void a_slice_has_a_range(void **state)
{
	static const struct {
		u32 kind, slice_us;
		bool accepted;
	} cases[] = {
		{ GANDALF_KIND_LINUX_SMP, 0, false },
		{ GANDALF_KIND_LINUX_SMP, GANDALF_SLICE_MINIMUM - 1, false },
		{ GANDALF_KIND_LINUX_SMP, GANDALF_SLICE_MAXIMUM, true },
		{ GANDALF_KIND_LINUX_SMP, GANDALF_SLICE_MAXIMUM + 1, false },
		{ GANDALF_KIND_LINUX_SMP, UINT32_MAX, false },
		{ GANDALF_KIND_RTOS, GANDALF_SLICE_MINIMUM, false },
		{ GANDALF_KIND_LINUX_SHARED, GANDALF_SLICE_MINIMUM, false },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		bool several = cases[i].kind == GANDALF_KIND_LINUX_SMP;
		struct gandalf_guest guest = guest_of(cases[i].kind, 1 + several, "00");

		guest.slice_us = cases[i].slice_us;
		assert_int_equal(guest_has_cpus(&table, &guest), cases[i].accepted);
	}
}

static void they_are_bits(void **state)
{
	struct gandalf_guest guest = guest_of(GANDALF_KIND_LINUX_SMP, 3, "132");

	(void)state;
	assert_int_equal(guest_cpus(&guest), 0xe);
	guest.vcpu_count = 1;
	assert_int_equal(guest_cpus(&guest), 0x2);
}

static void a_policy_is_for_vcpus_that_move(void **state)
{
	struct gandalf_guest guest = guest_of(GANDALF_KIND_LINUX_SMP, 2, "01");

	(void)state;
	guest.preemption = GANDALF_PREEMPTION_ON_DEMAND;
	assert_false(guest_has_cpus(&table, &guest));
	guest.flags |= GANDALF_GUEST_MIGRATES;
	assert_true(guest_has_cpus(&table, &guest));
	guest.preemption = GANDALF_PREEMPTION_POLICIES;
	assert_false(guest_has_cpus(&table, &guest));
	guest = guest_of(GANDALF_KIND_RTOS, 1, "0");
	guest.preemption = GANDALF_PREEMPTION_ON_DEMAND;
	guest.flags = GANDALF_GUEST_MIGRATES;
	assert_false(guest_has_cpus(&table, &guest));
	guest.flags = 0;
	assert_false(guest_has_cpus(&table, &guest));
}

static void a_delay_has_a_limit(void **state)
{
	struct gandalf_guest guest = guest_of(GANDALF_KIND_LINUX_SMP, 2, "01");

	(void)state;
	guest.delay_limit_us = GANDALF_DELAY_MAXIMUM;
	assert_true(guest_has_cpus(&table, &guest));
	guest.delay_limit_us = GANDALF_DELAY_MAXIMUM + 1;
	assert_false(guest_has_cpus(&table, &guest));
	guest.delay_limit_us = GANDALF_DELAY_MINIMUM - 1;
	assert_false(guest_has_cpus(&table, &guest));
	guest = guest_of(GANDALF_KIND_LINUX_SHARED, 1, "0");
	guest.delay_limit_us = GANDALF_DELAY_MINIMUM;
	assert_false(guest_has_cpus(&table, &guest));
}

static void whether_it_spins_is_for_several_vcpus(void **state)
{
	struct gandalf_guest guest = guest_of(GANDALF_KIND_LINUX_SMP, 2, "01");

	(void)state;
	guest.flags = GANDALF_GUEST_SPINS;
	assert_true(guest_has_cpus(&table, &guest));
	guest = guest_of(GANDALF_KIND_RTOS, 1, "0");
	guest.flags = GANDALF_GUEST_SPINS;
	assert_false(guest_has_cpus(&table, &guest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test(name)
		TEST(one_vcpu_is_on_any_cpu),
		TEST(several_are_on_cpus_that_exist),
		TEST(any_cpu_comes_first),
		TEST(the_kind_says_whether_there_are_several),
		TEST(there_are_one_to_eight),
		TEST(the_first_is_the_guests),
		TEST(they_are_bits),
		TEST(a_cpu_has_room_for_nine),
		TEST(a_slice_has_a_range),
		TEST(a_policy_is_for_vcpus_that_move),
		TEST(a_delay_has_a_limit),
		TEST(whether_it_spins_is_for_several_vcpus),
	};

	return RUN_TESTS(tests);
}
