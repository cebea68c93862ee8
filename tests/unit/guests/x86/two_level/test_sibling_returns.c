/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The returns of a kernel that several vCPUs execute: INT3 that one has put there is a return for
 * all of them, in that life of their guest.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "fake/map_at.h"

#include "guests/x86/smp/smp.h"
#include "guests/x86/two_level/returning_kernel.h"

#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

static const u32 cpus[] = { 1, 4 };
static struct smp smp;
static u32 life;

/* Own stand-in: the life in which this core's vCPU was started. */
u32 part_life_here(const struct vm *which)
{
	assert_ptr_equal(which, &vm);
	return life;
}

static void turn_of(u32 id)
{
	core.index = cpus[id];
}

static int start(void **state)
{
	begin(state);
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	life = 3;
	smp.cpus = 1u << cpus[0] | 1u << cpus[1];
	x86.siblings = true;
	x86.smp = &smp;
	turn_of(0);
	return 0;
}

static void a_sibling_s_trap_is_a_return(void **state)
{
	(void)state;
	assert_true(trap(EXCEPTION_NP, place(2)));
	turn_of(1);
	assert_true(trap(EXCEPTION_BP, place(2) + 1));
	assert_int_equal(frame.eip, place(2));
	assert_int_equal(vcpu.view.site, place(2) + 1);
	assert_false(trap(EXCEPTION_BP, place(3) + 1));
	assert_int_equal(served, 2);
}

/* Each core has room for as many. */
static void each_core_has_its_own(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PLACES; i++)
		assert_true(trap(EXCEPTION_NP, place(i)));
	turn_of(1);
	assert_true(trap(EXCEPTION_NP, place(PLACES)));
	for (unsigned id = 0; id < ARRAY_SIZE(cpus); id++) {
		turn_of(id);
		for (unsigned i = 0; i <= PLACES; i++)
			assert_true(trap(EXCEPTION_BP, place(i) + 1));
	}
	assert_int_equal(stops, 0);
}

/* A vCPU that starts again has the same kernel. */
static void a_vcpu_s_start_forgets_nothing(void **state)
{
	(void)state;
	assert_true(trap(EXCEPTION_NP, place(2)));
	views_forget_returns();
	assert_true(trap(EXCEPTION_BP, place(2) + 1));
	turn_of(1);
	assert_true(trap(EXCEPTION_BP, place(2) + 1));
}

/* The guest has been loaded again, and its kernel may be another one. */
static void another_life_has_other_returns(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PLACES; i++)
		assert_true(trap(EXCEPTION_NP, place(i)));
	*(u8 *)(uintptr_t)place(2) = IRET;
	life++;
	for (unsigned id = 0; id < ARRAY_SIZE(cpus); id++) {
		turn_of(id);
		for (unsigned i = 0; i < PLACES; i++)
			assert_false(trap(EXCEPTION_BP, place(i) + 1));
	}
	turn_of(0);
	assert_true(trap(EXCEPTION_NP, place(2)));
	turn_of(1);
	assert_true(trap(EXCEPTION_BP, place(2) + 1));
	assert_false(trap(EXCEPTION_BP, place(3) + 1));
	assert_int_equal(stops, 0);
}

/* Both vCPUs execute the IRET, and one puts INT3 there before the fault of the other is served. The
 * other executes it again, which is a trap by then. */
static void an_iret_that_has_just_become_a_trap_is_repeated(void **state)
{
	(void)state;
	assert_true(trap(EXCEPTION_NP, place(2)));
	served = 0;
	turn_of(1);
	assert_true(trap(EXCEPTION_NP, place(2)));
	assert_int_equal(frame.eip, place(2));
	assert_int_equal(served, 0);
	assert_true(trap(EXCEPTION_BP, place(2) + 1));
	assert_int_equal(served, 1);
	/* The kernel has written its code anew. */
	*(u8 *)(uintptr_t)place(2) = IRET;
	assert_true(trap(EXCEPTION_NP, place(2)));
	assert_int_equal(*(u8 *)(uintptr_t)place(2), INT3);
	*(u8 *)(uintptr_t)place(2) = NOP;
	assert_false(trap(EXCEPTION_NP, place(2)));
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_sibling_s_trap_is_a_return),
		TEST(each_core_has_its_own),
		TEST(a_vcpu_s_start_forgets_nothing),
		TEST(another_life_has_other_returns),
		TEST(an_iret_that_has_just_become_a_trap_is_repeated),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
