/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns of a kernel to its process by frames of every kind, of which some take the direct way,
 * some another one, and some must fault as on a PC.
 */
#include "views.h"

#define EFLAGS_RESERVED 2
#define EFLAGS_IOPL 0x3000u
/* Reserved ones, VIF and VIP, which not every CPU has, and RF, which ends with an instruction. */
#define NOT_COMPARED 0x1b802au
#define FRAME_WORDS 5

enum { EIP, CS, EFLAGS, ESP, SS };

extern char user_stack_top[];
extern const char user_system_call[], user_port[], user_port_trap[];

/* With room below for what traps while the stack is there, and with a border of pages. */
static uint32_t room[3][1024] __attribute__((aligned(4096)));
#define BORDER (&room[1][0])

/* Makes a frame that is right. */
static void frame_make(uint32_t *frame)
{
	frame[EIP] = (uint32_t)user_flagged;
	frame[CS] = USER_CODE;
	frame[EFLAGS] = EFLAGS_INTERRUPT | EFLAGS_RESERVED;
	frame[ESP] = (uint32_t)user_stack_top;
	frame[SS] = USER_DATA;
	user_flags = EFLAGS_RESERVED;
}

static void return_by(const uint32_t *frame)
{
	irq_disable();
	trap.count = 0;
	view_return(frame);
	trap_resume = 0;
}

static void returned(void)
{
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eip, (uint32_t)user_flagged_trap);
	expect_equal(trap.cs, USER_CODE);
	expect_equal(trap.esp, (uint32_t)user_stack_top);
	expect_equal(trap.ss, USER_DATA);
}

/* The IRET itself has trapped, in the kernel. */
static void refused(uint32_t vector, uint32_t error)
{
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, vector);
	expect_equal(trap.error, error);
	expect_equal(trap.eip, (uint32_t)view_iret);
	expect_equal(trap.cs, KERNEL_CODE);
}

static void test_frames(void)
{
	for (uint32_t before = 0; before <= FRAME_WORDS; before++) {
		frame_make(BORDER - before);
		return_by(BORDER - before);
		returned();
	}
	/* And at any byte. */
	for (uint32_t at = 1; at < 4; at++) {
		uint32_t *frame = (uint32_t *)((uint8_t *)BORDER - 2 * at * sizeof(*frame) + at);

		frame_make(frame);
		return_by(frame);
		returned();
	}
}

static void test_prefix(void)
{
	frame_make(BORDER);
	irq_disable();
	trap.count = 0;
	view_return_prefixed(BORDER);
	trap_resume = 0;
	returned();
}

/* The words of the frame are in a page that is not there, from each of them on. */
static void test_frames_absent(void)
{
	const uint32_t border = VIEW_KERNEL + 9 * PAGE_SIZE;

	view_kernel[8] = physical(room[0]) | PAGE_P | PAGE_W;
	view_kernel[9] = physical(room[1]) | PAGE_P | PAGE_W;
	view_flush_at(0, VIEW_KERNEL + 8 * PAGE_SIZE, 2);
	for (uint32_t before = 1; before < FRAME_WORDS; before++) {
		uint32_t *frame = (uint32_t *)border - before;

		frame_make(frame);
		return_by(frame);
		returned();
		frame_make(frame);
		view_kernel[9] = 0;
		view_flush_at(0, VIEW_KERNEL + 9 * PAGE_SIZE, 1);
		return_by(frame);
		refused(VECTOR_PF, 0);
		expect_equal(trap.cr2, border);
		view_kernel[9] = physical(room[1]) | PAGE_P | PAGE_W;
	}
}

static void selector_test(uint32_t word, uint32_t selector, uint32_t vector)
{
	frame_make(BORDER);
	BORDER[word] = selector;
	return_by(BORDER);
	refused(vector, selector & ~3u);
}

/* A kernel cannot give a process more than ring 3 by any selector, nor go there by a wrong one. */
static void test_code_selectors(void)
{
	selector_test(CS, 0, VECTOR_GP);
	selector_test(CS, 3, VECTOR_GP);
	selector_test(CS, KERNEL_CODE | 3, VECTOR_GP);
	selector_test(CS, KERNEL_DATA | 3, VECTOR_GP);
	selector_test(CS, USER_DATA, VECTOR_GP);
	selector_test(CS, TASK_STATE | 3, VECTOR_GP);
	selector_test(CS, USER_CODE | 4, VECTOR_GP);
	selector_test(CS, 0xfffb, VECTOR_GP);
}

static void test_stack_selectors(void)
{
	selector_test(SS, 0, VECTOR_GP);
	selector_test(SS, 3, VECTOR_GP);
	selector_test(SS, KERNEL_DATA, VECTOR_GP);
	/* Where the VMM alone is privileged, it is ring 3's as well, and gives a process nothing
	 * that USER_DATA does not. */
	if (kernel_ring() != 3)
		selector_test(SS, KERNEL_DATA | 3, VECTOR_GP);
	selector_test(SS, USER_CODE, VECTOR_GP);
	selector_test(SS, USER_DATA & ~3u, VECTOR_GP);
	selector_test(SS, TASK_STATE | 3, VECTOR_GP);
	selector_test(SS, 0xfffb, VECTOR_GP);
}

/* What stands in the upper halves of the words of selectors means nothing. */
static void test_upper_halves(void)
{
	frame_make(BORDER);
	BORDER[CS] |= 0xabcd0000;
	BORDER[SS] |= 0x12340000;
	return_by(BORDER);
	returned();
}

/* Each flag alone: the process has it, but for IOPL and for what it never sees. */
static void test_flags(void)
{
	for (uint32_t bit = 0; bit < 22; bit++) {
		uint32_t flag = 1u << bit;

		/* VM is another way, and TF another test. IF: a process has it always. */
		if (bit == 17 || bit == 8 || bit == 9)
			continue;
		frame_make(BORDER);
		BORDER[EIP] = (uint32_t)user_system_call;
		BORDER[EFLAGS] |= flag;
		return_by(BORDER);
		expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
		expect_equal(trap.eflags & ~NOT_COMPARED & ~EFLAGS_IOPL,
			     (flag & 0x244dd5u) | EFLAGS_INTERRUPT);
	}
	frame_make(BORDER);
	BORDER[EFLAGS] |= EFLAGS_TRAP;
	return_by(BORDER);
	expect_equal(trap.vector, VECTOR_DB);
	expect_equal(trap.count, 1);
	expect_equal(trap.eip - (uint32_t)user_flagged, 6);
}

/* Whatever IOPL the kernel asks for, a process of a shared CPU has no ports by it. */
static void test_iopl(void)
{
	if (environment == NATIVE) {
		tap_skip("ports are the kernel's to give");
		return;
	}
	frame_make(BORDER);
	BORDER[EIP] = (uint32_t)user_port;
	BORDER[EFLAGS] |= EFLAGS_IOPL;
	return_by(BORDER);
	expect_equal(trap.vector, VECTOR_GP);
	expect_equal(trap.eip, (uint32_t)user_port_trap);
}

/* The address that it returns to is the kernel's: it faults in the process. */
static void test_addresses(void)
{
	static const uint32_t addresses[] = { KERNEL_HALF, VIEW_KERNEL, 0xfbffffff };

	for (uint32_t i = 0; i < 3; i++) {
		frame_make(BORDER);
		BORDER[EIP] = addresses[i];
		return_by(BORDER);
		expect_equal(trap.vector, VECTOR_PF);
		expect_equal(trap.cr2, addresses[i]);
		expect_equal(trap.cs, USER_CODE);
		expect_equal(trap.error & ~FAULT_PRESENT, FAULT_USER);
	}
}

/* The frame is in a page below the kernel half that is the kernel's alone. The process does not
 * have it: not the first time, which the VMM has to see, nor any other. */
static void test_frame_in_a_page_of_the_kernel(void)
{
	const uint32_t address = SCRATCH + 80 * PAGE_SIZE;

	view_map(0, 80, scratch_frame[1], PAGE_P | PAGE_W | PAGE_A | PAGE_D);
	for (uint32_t i = 0; i < 4; i++) {
		frame_make((uint32_t *)scratch_frame[1]);
		((uint32_t *)scratch_frame[1])[EIP] = (uint32_t)user_look;
		user_address = address;
		return_by((const uint32_t *)address);
		expect_equal(trap.vector, VECTOR_PF);
		expect_equal(trap.cr2, address);
		expect_equal(trap.error & ~FAULT_PRESENT, FAULT_USER);
	}
}

static const struct tap_test return_tests[] = {
	{ "return-frames", test_frames },
	{ "return-prefix", test_prefix },
	{ "return-frames-absent", test_frames_absent },
	{ "return-code-selectors", test_code_selectors },
	{ "return-stack-selectors", test_stack_selectors },
	{ "return-upper-halves", test_upper_halves },
	{ "return-flags", test_flags },
	{ "return-iopl", test_iopl },
	{ "return-addresses", test_addresses },
	{ "return-own-page", test_frame_in_a_page_of_the_kernel },
};
const struct tap_group group_returns = TAP_GROUP(return_tests);
