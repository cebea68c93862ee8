/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the VMM puts INT3 in a kernel, and what traps it takes for the kernel's return to a
 * process. tests/boot/test_two_level_views.py has a kernel that makes all kinds of returns.
 */
#include "guests/x86/two_level/returning_kernel.h"

static void the_first_return_leaves_a_trap(void **state)
{
	(void)state;
	assert_true(trap(EXCEPTION_NP, place(2)));
	assert_int_equal(served, 1);
	for (unsigned i = 0; i < sizeof(code); i++)
		assert_int_equal(code[i], i == 11 ? INT3 : i % 5 == 1 && i <= 41 ? IRET : NOP);
	assert_true(trap(EXCEPTION_BP, place(2) + 1));
	assert_int_equal(served, 2);
	assert_int_equal(frame.eip, place(2));
	assert_int_equal(vcpu.view.site, place(2) + 1);
}

/* A kernel's own INT3, faults of other instructions, and all of a process, are something else. */
static void other_traps_are_not_returns(void **state)
{
	(void)state;
	assert_false(trap(EXCEPTION_BP, place(2) + 1));
	assert_true(trap(EXCEPTION_NP, place(2)));
	assert_false(trap(EXCEPTION_BP, place(2)));
	assert_false(trap(EXCEPTION_BP, place(3) + 1));
	assert_false(trap(EXCEPTION_UD, place(2) + 1));
	assert_false(trap(EXCEPTION_NP, place(2) + 1));
	vcpu.view.in_process = 1;
	assert_false(trap(EXCEPTION_BP, place(2) + 1));
	assert_false(trap(EXCEPTION_NP, place(3)));
	assert_int_equal(*(u8 *)(uintptr_t)place(3), IRET);
	assert_int_equal(served, 1);
}

static void a_guest_that_starts_again_is_learnt_again(void **state)
{
	(void)state;
	assert_true(trap(EXCEPTION_NP, place(0)));
	views_forget_returns();
	assert_false(trap(EXCEPTION_BP, place(0) + 1));
}

/* It may execute what is not its memory, such as its local APIC's registers, or must not be
 * written. Nothing is stored there. */
static void a_place_is_in_memory(void **state)
{
	const u32 large = place(0) & PTE_LARGE_FRAME;

	(void)state;
	x86.shadow.memory_size = large;
	assert_true(trap(EXCEPTION_NP, place(0)));
	assert_int_equal(stops, 1);
	x86.shadow.memory_size = GANDALF_BASE;
	x86.shadow.memory_base = large + LARGE_PAGE_SIZE;
	assert_true(trap(EXCEPTION_NP, place(0)));
	assert_int_equal(stops, 2);
	x86.shadow.memory_base = 0;
	x86.shadow.protected_frame = large;
	assert_true(trap(EXCEPTION_NP, place(0)));
	assert_int_equal(stops, 3);
	assert_int_equal(served, 0);
	assert_int_equal(*(u8 *)(uintptr_t)place(0), IRET);
}

static void there_are_places_for_so_many(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PLACES; i++)
		assert_true(trap(EXCEPTION_NP, place(i)));
	for (unsigned i = 0; i < PLACES; i++)
		assert_true(trap(EXCEPTION_BP, place(i) + 1));
	assert_int_equal(stops, 0);
	assert_int_equal(served, 2 * PLACES);
	assert_true(trap(EXCEPTION_NP, place(PLACES)));
	assert_int_equal(stops, 1);
	assert_int_equal(served, 2 * PLACES);
	assert_int_equal(*(u8 *)(uintptr_t)place(PLACES), IRET);
}

/* The error code has the selector that is wrong: CS, or if that is a process's, SS. */
static void a_return_that_is_impossible_is_a_fault(void **state)
{
	const struct {
		u32 cs, ss, error;
	} cases[] = {
		{ VIEW_SWITCH_KERNEL_CODE | 3, VIEW_SWITCH_USER_DATA, VIEW_SWITCH_KERNEL_CODE },
		{ 3, VIEW_SWITCH_USER_DATA, 0 },
		{ VIEW_SWITCH_USER_CODE | 4, VIEW_SWITCH_USER_DATA, 0x74 },
		{ 0xfffb, VIEW_SWITCH_USER_DATA, 0xfff8 },
		{ VIEW_SWITCH_USER_CODE, 0x80, 0x80 },
		{ VIEW_SWITCH_USER_CODE, 3, 0 },
	};

	(void)state;
	assert_true(trap(EXCEPTION_NP, place(1)));
	possible = false;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		stack[1] = cases[i].cs;
		stack[4] = cases[i].ss;
		assert_true(trap(EXCEPTION_BP, place(1) + 1));
		assert_int_equal(faults, i + 1);
		assert_int_equal(fault_error, cases[i].error);
		assert_int_equal(frame.eip, place(1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_first_return_leaves_a_trap, begin),
		cmocka_unit_test_setup(other_traps_are_not_returns, begin),
		cmocka_unit_test_setup(a_guest_that_starts_again_is_learnt_again, begin),
		cmocka_unit_test_setup(a_place_is_in_memory, begin),
		cmocka_unit_test_setup(there_are_places_for_so_many, begin),
		cmocka_unit_test_setup(a_return_that_is_impossible_is_a_fault, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
