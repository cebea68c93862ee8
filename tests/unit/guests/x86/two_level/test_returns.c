/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the VMM puts INT3 in a kernel, and what traps it takes for the kernel's return to a
 * process. tests/boot/test_two_level_views.py has a kernel that makes all kinds of returns.
 */
#include "unit.h"

#include <string.h>

#include "views.h"
#include "core/core.h"
#include "guests/x86/emulate.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"

#define IRET 0xcf
#define INT3 0xcc
#define NOP 0x90
#define PLACES 8u

static struct vm vm;
static struct vcpu vcpu;
static struct segment_tables tables;
static struct frame frame;
static struct x86 x86;
/* The kernel's code and stack. */
static u8 code[64] __attribute__((aligned(4)));
static u32 stack[5];
static unsigned served, stops, faults;
static u32 fault_error;
static bool possible;

/* Stand-ins for the rest of the VMM. */

bool emulation_begin(struct emulation *e, struct x86 *which)
{
	memset(e, 0, sizeof(*e));
	e->x86 = which;
	e->decoded.operation = *(u8 *)frame.eip == IRET ? DECODED_IRET : DECODED_HLT;
	return true;
}

enum emulated emulate_iret(const struct emulation *e)
{
	assert_int_equal(e->decoded.operand_size, 4);
	served++;
	return possible ? EMULATED_JUMP : EMULATED_FAULT;
}

/*
 * Own stand-ins: entry_copy() and guest_read() have the host's memory; inject() is not called;
 * inject_general_protection() and vm_stop() are what a return may come to.
 */
bool guest_read(u32 linear, void *to, u32 size)
{
	memcpy(to, (const void *)(uintptr_t)linear, size);
	return true;
}

void inject_general_protection(struct x86 *which, u32 error)
{
	(void)which;
	faults++;
	fault_error = error;
}

bool inject(struct x86 *which, unsigned vector, u32 error)
{
	(void)which;
	(void)vector;
	(void)error;
	fail();
	return false;
}

/* What write_or_fail() does here. */
u32 entry_copy(void *to, const void *from, u32 size)
{
	memcpy(to, from, size);
	return 0;
}

void vm_stop(struct vm *which, const char *pattern, ...)
{
	(void)which;
	assert_non_null(strstr(pattern, "too many places"));
	stops++;
}

static u32 place(unsigned number)
{
	return (u32)(uintptr_t)&code[number * 5 + 1];
}

static int begin(void **state)
{
	(void)state;
	memset(&vcpu, 0, sizeof(vcpu));
	memset(code, NOP, sizeof(code));
	for (unsigned i = 0; i <= PLACES; i++)
		*(u8 *)(uintptr_t)place(i) = IRET;
	served = stops = faults = 0;
	possible = true;
	vcpu.tables = &tables;
	tables.user_code = VIEW_SWITCH_USER_BIT;
	x86.vcpu = &vcpu;
	x86.vm = &vm;
	frame.esp = (u32)(uintptr_t)stack;
	views_forget_returns();
	return 0;
}

static bool trap(unsigned vector, u32 eip)
{
	frame.vector = vector;
	frame.eip = eip;
	return views_return(&x86, &frame);
}

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
		cmocka_unit_test_setup(there_are_places_for_so_many, begin),
		cmocka_unit_test_setup(a_return_that_is_impossible_is_a_fault, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
