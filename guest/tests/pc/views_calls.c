/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of every kind, of which some take the direct way and some do not: with any stack of
 * the kernel, any flags and segments of the process, stepped and interrupted.
 */
#include "views.h"

#define FRAME_BYTES 20
#define EFLAGS_RESERVED 2
/* Those that a process can change: CF, PF, AF, ZF, SF, TF, DF, OF, NT, AC, ID. */
#define EFLAGS_OF_PROCESS 0x244dd5u
#define EFLAGS_IOPL 0x3000u
#define BACK_AGAIN 3 /* EAX of a system call behind which the process goes on */
#define STEPS 6 /* the first instruction behind each system call steps with it */
#define CALLS 30000
#define HYPERCALLS 64

extern char user_stack_top[];

static uint8_t stacks[4][PAGE_SIZE] __attribute__((aligned(4096)));

static void call_check(uint32_t stack)
{
	user_trap(user_flagged);
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eip, (uint32_t)user_flagged_trap);
	expect_equal(trap.cs, USER_CODE);
	expect_equal(trap.ss, USER_DATA);
	expect_equal(trap.esp, (uint32_t)user_stack_top);
	expect_equal(trap.stack, stack - FRAME_BYTES);
	expect(!trap.flag);
}

static void stack_set(uint32_t stack)
{
	*(volatile uint32_t *)&task_state.esp0 = stack;
}

/* The frame crosses a page at each of its bytes, or stands at its beginning or end. */
static void test_stacks(void)
{
	const uint32_t before = task_state.esp0;
	const uint32_t border = (uint32_t)stacks[2];

	user_flags = EFLAGS_RESERVED;
	for (uint32_t stack = border - FRAME_BYTES; stack <= border + 2 * FRAME_BYTES; stack++) {
		stack_set(stack);
		call_check(stack);
	}
	stack_set(before);
	call_check(before);
}

static void kernel_map(uint32_t page, uint32_t frame, uint32_t flags)
{
	*(volatile uint32_t *)&view_kernel[page] = physical(stacks[frame]) | flags;
	view_flush_at(0, VIEW_KERNEL + page * PAGE_SIZE, 1);
}

/* The stack is in pages that have not been used, or only been read; or one of them has. */
static void test_stacks_unused(void)
{
	static const uint32_t used[] = { 0, PAGE_A, PAGE_A | PAGE_D };
	const uint32_t before = task_state.esp0;
	const uint32_t stack = VIEW_KERNEL + PAGE_SIZE + FRAME_BYTES / 2;

	user_flags = EFLAGS_RESERVED;
	for (uint32_t i = 0; i < 9; i++) {
		kernel_map(0, 0, PAGE_P | PAGE_W | used[i / 3]);
		kernel_map(1, 1, PAGE_P | PAGE_W | used[i % 3]);
		stack_set(stack);
		call_check(stack);
		expect_equal(view_kernel[0] & view_kernel[1] & PAGE_D, PAGE_D);
		/* The frame is in one page now. */
		stack_set(stack + FRAME_BYTES);
		call_check(stack + FRAME_BYTES);
	}
	stack_set(before);
}

/* The page of the stack becomes another one: it is the new one that gets the frame. */
static void test_stacks_replaced(void)
{
	const uint32_t before = task_state.esp0;
	const uint32_t stack = VIEW_KERNEL + 3 * PAGE_SIZE;
	const volatile uint32_t *const eip = (uint32_t *)(stacks[3] + PAGE_SIZE - FRAME_BYTES);
	const volatile uint32_t *const old = (uint32_t *)(stacks[2] + PAGE_SIZE - FRAME_BYTES);

	user_flags = EFLAGS_RESERVED;
	kernel_map(2, 2, PAGE_P | PAGE_W | PAGE_A | PAGE_D);
	stack_set(stack);
	call_check(stack);
	expect_equal(*old, (uint32_t)user_flagged_trap);
	*(volatile uint32_t *)old = 0;
	kernel_map(2, 3, PAGE_P | PAGE_W);
	call_check(stack);
	expect_equal(*eip, (uint32_t)user_flagged_trap);
	expect_equal(*old, 0);
	stack_set(before);
}

/* One bit alone, and all but one; a process that asks for IOPL does not get it. TF is for the
 * instruction behind POPF, so it traps before there is a system call. */
static void test_flags(void)
{
	for (uint32_t bit = 0; bit < 22; bit++) {
		const uint32_t flag = 1u << bit & (EFLAGS_OF_PROCESS | EFLAGS_IOPL);
		const uint32_t all = EFLAGS_OF_PROCESS & ~(uint32_t)EFLAGS_TRAP & ~flag;
		const uint32_t asked[] = { flag | EFLAGS_RESERVED, all | EFLAGS_RESERVED };

		for (uint32_t i = 0; i < 2; i++) {
			user_flags = asked[i];
			user_trap(user_flagged);
			expect_equal(trap.vector, asked[i] & EFLAGS_TRAP ? VECTOR_DB
									 : VECTOR_SYSTEM_CALL);
			expect_equal(trap.eflags,
				     (asked[i] & ~(uint32_t)EFLAGS_IOPL) | EFLAGS_INTERRUPT);
			expect_equal(trap.count, 1);
		}
	}
}

static uint32_t steps, calls;

static bool step_count(struct trap_frame *frame)
{
	if (frame->vector == VECTOR_DB) {
		expect_equal(frame->eflags & EFLAGS_TRAP, EFLAGS_TRAP);
		steps++;
		return true;
	}
	calls++;
	return frame->vector == VECTOR_SYSTEM_CALL && frame->eax == BACK_AGAIN;
}

/* A process that steps through itself and its system calls. */
static void test_stepped(void)
{
	steps = calls = 0;
	user_hook = step_count;
	user_trap(user_stepped);
	user_hook = NULL;
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eax, 1);
	expect_equal(calls, 3);
	expect_equal(steps, STEPS);
}

static bool call_count(struct trap_frame *frame)
{
	return frame->vector == VECTOR_SYSTEM_CALL && frame->eax == 1 && ++calls < CALLS;
}

/* None is lost and none is made twice, wherever the timer interrupts it. */
static void test_interrupted(void)
{
	calls = user_counted = 0;
	irq_disable();
	pic_init();
	irq_count[0] = 0;
	pic_unmask(1);
	pit_start(20000);
	user_hook = call_count;
	user_trap(user_count);
	user_hook = NULL;
	pit_stop();
	pic_unmask(0);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(calls, CALLS);
	expect_equal(user_counted, CALLS);
	expect(irq_count[0] > 50);
}

static void map_word(void)
{
	*(volatile uint32_t *)scratch_frame[0] = 77;
	view_map(0, 40, scratch_frame[0], PAGE_P | PAGE_U | PAGE_A);
}

/* The VMM gives a process its segments back, also where it needs its own to fill a page. */
static void test_segments(void)
{
	view_map(0, 41, scratch_frame[1], PAGE_P | PAGE_U | PAGE_A);
	view_run(user_look, 41, NULL);
	view_map(0, 40, NULL, 0);
	expect_equal(view_run(user_segments, 40, map_word), 1);
	view_read(77);
	expect_equal(view_run(user_segments, 40, NULL), 0);
	view_read(77);
}

/* A process has no hypercalls at all. */
static void test_hypercalls(void)
{
	for (uint32_t i = 0; i <= HYPERCALLS; i++) {
		user_flags = i == HYPERCALLS ? UINT32_MAX : i;
		user_trap(user_hypercall_any);
		expect_equal(trap.vector, VECTOR_GP);
		expect_equal(trap.error, GANDALF_HYPERCALL_VECTOR * 8 + 2);
		expect_equal(trap.eip, (uint32_t)user_hypercall_any_trap);
		expect_equal(trap.count, 1);
	}
}

static const struct tap_test call_tests[] = {
	{ "call-stacks", test_stacks },
	{ "call-stacks-unused", test_stacks_unused },
	{ "call-stacks-replaced", test_stacks_replaced },
	{ "call-flags", test_flags },
	{ "call-stepped", test_stepped },
	{ "call-interrupted", test_interrupted },
	{ "call-segments", test_segments },
	{ "call-hypercalls", test_hypercalls },
};
const struct tap_group group_calls = TAP_GROUP(call_tests);
