/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process can reach of its kernel: nothing, whatever the TLB has had of it, and however
 * close it comes. Breakpoints of the kernel on what the VMM reads and writes for it do no harm.
 */
#include "views.h"

#define LAST_PAGE 1023
#define BELOW (KERNEL_HALF - PAGE_SIZE)
#define USERS (PAGE_P | PAGE_W | PAGE_U | PAGE_A | PAGE_D)
#define KERNELS (PAGE_P | PAGE_W | PAGE_A | PAGE_D)
/* DR7: the first breakpoint, on reads and writes of 4 bytes. */
#define BREAK_ON_ACCESS 0xf0001u

static void out_of_reach(uint32_t address)
{
	view_try(user_look, address);
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.error & ~FAULT_PRESENT, FAULT_USER);
	expect_equal(trap.cr2, address);
	view_try(user_access, address);
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.cr2, address);
}

static void kernel_touch(uint32_t address)
{
	volatile uint32_t *const word = (uint32_t *)address;
	uint32_t value = *word;

	*word = value;
}

/* The kernel has just used these pages, so that the TLB has them. */
static void kernel_is_closed(void)
{
	static const uint32_t places[] = { KERNEL_HALF + 0x100000, VIEW_KERNEL + 20 * PAGE_SIZE,
					   KERNEL_HALF + 3 * LARGE_PAGE_SIZE };

	for (uint32_t i = 0; i < 3; i++) {
		kernel_touch(places[i]);
		out_of_reach(places[i]);
	}
}

static void test_stale(void)
{
	view_kernel[20] = physical(scratch_frame[0]) | KERNELS;
	kernel_is_closed();
}

static void test_global(void)
{
	cr4_write(cr4_read() | CR4_PGE);
	view_kernel[20] = physical(scratch_frame[0]) | KERNELS | PAGE_G;
	for (uint32_t space = 0; space < 2; space++)
		for (uint32_t i = 0; i < 4; i++)
			view_directory[space][KERNEL_HALF / LARGE_PAGE_SIZE + i] |= PAGE_G;
	cr3_write(cr3_read());
	kernel_is_closed();
	view_load(1);
	kernel_is_closed();
	view_load(0);
}

static void test_vmm(void)
{
	static const uint32_t places[] = { GANDALF_SHARED_PAGE, GANDALF_SHARED_ALIAS, 0xfc012000,
					   0xfc400000, 0xfc500000, 0xff000000 };

	if (environment == NATIVE) {
		tap_skip("there is no VMM");
		return;
	}
	irq_enable();
	irq_disable();
	for (uint32_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		/* #GP: where the emulator has segment limits, which no page needs. */
		view_try(user_look, places[i]);
		expect(trap.vector == VECTOR_PF || trap.vector == VECTOR_GP);
		expect_equal(trap.cs, USER_CODE);
		view_try(user_access, places[i]);
		expect(trap.vector == VECTOR_PF || trap.vector == VECTOR_GP);
	}
}

/* A page that the kernel has taken from the process. */
static void test_unmapped(void)
{
	view_map(0, 50, scratch_frame[1], USERS);
	expect_equal(view_run(user_access, 50, NULL), 0);
	view_map(0, 50, NULL, 0);
	view_run(user_look, 50, NULL);
	view_fault(FAULT_USER);
	view_map(0, 50, scratch_frame[1], USERS);
	expect_equal(view_run(user_access, 50, NULL), 0);
	view_map(0, 50, scratch_frame[1], USERS & ~PAGE_W);
	view_run(user_access, 50, NULL);
	view_fault(FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	view_map(0, 50, scratch_frame[1], USERS & ~PAGE_U);
	view_run(user_look, 50, NULL);
	view_fault(FAULT_USER | FAULT_PRESENT);
}

/* A page among the process's that is the kernel's alone, which has just used it. */
static void test_own(void)
{
	const uint32_t address = SCRATCH + 51 * PAGE_SIZE;

	view_map(0, 51, scratch_frame[1], USERS);
	expect_equal(view_run(user_access, 51, NULL), 0);
	view_map(0, 51, scratch_frame[2], KERNELS);
	kernel_touch(address);
	out_of_reach(address);
}

/* One beside a page that the process reads first, in the same group of 16. Both are in the kernel's
 * tables only, until the process faults. */
static void test_near(void)
{
	const uint32_t address = SCRATCH + 64 * PAGE_SIZE;

	view_map(0, 64, scratch_frame[1], USERS);
	view_map(0, 65, scratch_frame[2], KERNELS);
	view_try(user_look_on, address);
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.cr2, address + PAGE_SIZE);
	expect_equal(trap.error, FAULT_USER | FAULT_PRESENT);
}

/* Words that begin in the process's last page and end in its kernel's first. */
static void test_border(void)
{
	view_below[LAST_PAGE] = physical(scratch_frame[2]) | USERS;
	view_flush_at(0, BELOW, 1);
	view_try(user_access, KERNEL_HALF - 4);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	for (uint32_t address = KERNEL_HALF - 3; address < KERNEL_HALF; address++) {
		view_try(user_look, address);
		expect_equal(trap.vector, VECTOR_PF);
		expect_equal(trap.cr2, KERNEL_HALF);
		expect_equal(trap.error & ~FAULT_PRESENT, FAULT_USER);
		view_try(user_access, address);
		expect_equal(trap.vector, VECTOR_PF);
		expect_equal(trap.cr2, KERNEL_HALF);
	}
}

/* An instruction that does, and one behind the last of the process's. */
static void test_border_code(void)
{
	uint8_t *const code = scratch_frame[2];
	static const uint8_t move[] = { 0xb8, 1, 0, 0, 0 }; /* mov $1, %eax */

	for (uint32_t inside = 1; inside <= sizeof(move); inside++) {
		for (uint32_t i = 0; i < inside; i++)
			code[PAGE_SIZE - inside + i] = move[i];
		user_trap((const char *)(KERNEL_HALF - inside));
		expect_equal(trap.vector, VECTOR_PF);
		expect_equal(trap.cr2, KERNEL_HALF);
		expect_equal(trap.eip, KERNEL_HALF - (inside < sizeof(move) ? inside : 0));
		expect_equal(trap.cs, USER_CODE);
	}
}

/* The kernel's stack begins at the border: its frames are in the page below, which is a process's,
 * or in both. */
static void test_border_stack(void)
{
	const uint32_t before = task_state.esp0;

	for (uint32_t stack = KERNEL_HALF; stack <= KERNEL_HALF + 20; stack += 4) {
		*(volatile uint32_t *)&task_state.esp0 = stack;
		user_flags = 2;
		user_trap(user_flagged);
		expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
		expect_equal(trap.eip, (uint32_t)user_flagged_trap);
		expect_equal(trap.stack, stack - 20);
	}
	*(volatile uint32_t *)&task_state.esp0 = before;
}

static const struct tap_test border_tests[] = {
	{ "border-stale", test_stale },
	{ "border-global", test_global },
	{ "border-vmm", test_vmm },
	{ "border-unmapped", test_unmapped },
	{ "border-own", test_own },
	{ "border-near", test_near },
	{ "border-words", test_border },
	{ "border-code", test_border_code },
	{ "border-stack", test_border_stack },
};
const struct tap_group group_borders = TAP_GROUP(border_tests);
