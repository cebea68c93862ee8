/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process reaches by a selector or a stack pointer of its own choice, whatever the kernel
 * finds of it in its frame: nothing of its kernel, neither before nor behind a system call.
 */
#include "views.h"

#define BACK_AGAIN 3 /* EAX of a system call behind which the process goes on */
#define SELECTORS 0x800u /* all of the real GDT and of an LDT, and beyond both */
#define SECRET 0x7ec2e7u
#define SECRET_AT (VIEW_KERNEL + 30 * PAGE_SIZE)

extern const char user_selected_ds[], user_selected_es[], user_selected_fs[], user_selected_gs[],
	user_selected_ss[], user_posed[], user_posed_trap[], user_far_jump[], user_far_return[];
extern char user_leave[];

static uint32_t calls;

static bool back_again(struct trap_frame *frame)
{
	calls++;
	return frame->vector == VECTOR_SYSTEM_CALL && frame->eax == BACK_AGAIN;
}

/* The kernel has just used its word, so that the TLB has it. */
static void secret_touch(void)
{
	*(volatile uint32_t *)&view_kernel[30] = physical(scratch_frame[3]) | PAGE_P | PAGE_W |
						 PAGE_A | PAGE_D;
	*(volatile uint32_t *)SECRET_AT = SECRET;
	user_address = SECRET_AT;
}

/* Returns whether a process has ended as it must: by a fault that a wrong selector has, or by that
 * of the page, which is not the kernel's own. */
static bool kept_out(void)
{
	if (trap.vector == VECTOR_PF)
		return trap.cr2 == SECRET_AT && trap.cs == USER_CODE;
	return trap.vector == VECTOR_GP || trap.vector == VECTOR_NP || trap.vector == VECTOR_SS;
}

/* Returns how many selectors can be loaded, by whose segments the page has been tried; 0 if one let
 * the process in. */
static uint32_t selectors_try(const char *code)
{
	uint32_t loaded = 0;

	for (uint32_t selector = 0; selector < SELECTORS; selector++) {
		secret_touch();
		user_flags = selector;
		user_trap(code);
		if (!kept_out())
			return 0;
		loaded += trap.vector == VECTOR_PF;
	}
	return loaded;
}

static void test_selectors(void)
{
	expect(selectors_try(user_selected_ds) > 0);
	expect(selectors_try(user_selected_es) > 0);
	expect(selectors_try(user_selected_fs) > 0);
	expect(selectors_try(user_selected_gs) > 0);
	expect(selectors_try(user_selected_ss) > 0);
}

/* Returns how many code segments led to a system call; 0 if one let the process in. */
static uint32_t codes_try(const char *code)
{
	uint32_t reached = 0;

	for (uint32_t selector = 0; selector < SELECTORS; selector++) {
		secret_touch();
		calls = 0;
		user_flags = selector;
		user_hook = back_again;
		trap_resume = (uint32_t)user_leave;
		user_trap(code);
		trap_resume = 0;
		user_hook = NULL;
		if (!kept_out())
			return 0;
		reached += calls > 1;
	}
	return reached;
}

static void test_far(void)
{
	expect(codes_try(user_far_jump) > 0);
	expect(codes_try(user_far_return) > 0);
}

/* The kernel is told where the stack is, and gives it back, whatever is there. */
static void test_stack_pointers(void)
{
	static const uint32_t pointers[] = {
		0, 1, 4, 19, 0x7fffffff, KERNEL_HALF - 1, KERNEL_HALF, VIEW_KERNEL, 0xfbffffff,
		GANDALF_SHARED_PAGE, 0xfc012000, 0xfc401000, 0xffffffff,
	};

	for (uint32_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
		calls = 0;
		user_address = pointers[i];
		user_hook = back_again;
		user_trap(user_posed);
		user_hook = NULL;
		expect_equal(calls, 2);
		expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
		expect_equal(trap.eip, (uint32_t)user_posed_trap);
		expect_equal(trap.esp, pointers[i]);
		expect_equal(trap.ebx, pointers[i]);
		expect_equal(trap.ss, USER_DATA);
	}
}

static const struct tap_test process_tests[] = {
	{ "process-selectors", test_selectors },
	{ "process-far", test_far },
	{ "process-stack-pointers", test_stack_pointers },
};
const struct tap_group group_processes = TAP_GROUP(process_tests);
