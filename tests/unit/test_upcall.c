/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upcalls: what the guest's handler finds, how deep they go, and returns that are forged.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <setjmp.h>
#include <sys/mman.h>

#include "ia32/upcall.h"
#include "fake/linux.h"

#define BASE 0x30u
#define POINT 0xfc512345u

static jmp_buf left;
static struct frame *left_by;
static u32 table[1024]; /* of LAYOUT_VCPU */
static struct frame vmm_frames[UPCALL_DEPTH + 1];
static int in_service;

int i8259_in_service(void)
{
	return in_service;
}

void processor_sleep(void)
{
	fail();
}

void entry_leave(struct frame *by)
{
	left_by = by;
	assert_int_equal(real_tables.tss.esp0, (u32)(uintptr_t)(vcpu.frame + 1));
	longjmp(left, 1);
}

static u32 stack_at(u32 depth)
{
	return LAYOUT_STACK_TOP + depth * 3 * PAGE_SIZE;
}

static struct frame *handler(u32 depth)
{
	return (struct frame *)(uintptr_t)stack_at(depth) - 1;
}

static bool is_writable(u32 linear)
{
	return (table[linear / PAGE_SIZE % 1024] & PTE_W) != 0;
}

/* Where the guest could write is where nothing is suspended. */
static void check_stacks(void)
{
	for (u32 depth = 0; depth <= UPCALL_DEPTH; depth++)
		assert_int_equal(is_writable(stack_at(depth) - PAGE_SIZE),
				 depth >= pc.upcall_depth);
	assert_int_equal(is_writable(LAYOUT_STACK), pc.upcall_depth == 0);
}

static int start(void **state)
{
	(void)state;
	linux_reset();
	core.interruptible = true;
	pc.dedicated = true;
	pc.tr = TASK;
	in_service = 0;
	memset(table, 0, sizeof(table));
	for (u32 page = LAYOUT_STACK; page < LAYOUT_STACK_TOP; page += PAGE_SIZE)
		table[page / PAGE_SIZE % 1024] = PTE_P | PTE_W;
	vcpu.table_frame = (u32)(uintptr_t)table;
	pool_rest = UPCALL_DEPTH;
	assert_true(upcall_create(&vcpu));
	pool_rest = UPCALL_DEPTH - 1;
	assert_false(upcall_create(&vcpu));
	upcall_reset(&pc);
	check_stacks();
	upcall_learn(&pc, BASE);
	assert_int_equal(pc.irq_bases[0], BASE);
	for (unsigned i = 0; i <= UPCALL_DEPTH; i++) {
		memset(&vmm_frames[i], 0, sizeof(vmm_frames[i]));
		vmm_frames[i].eip = POINT + i;
		vmm_frames[i].cs = SELECTOR_VMM_CODE;
	}
	return 0;
}

/* Whether it left, and by which frame: NULL if it did not. */
static struct frame *interrupt(int irq)
{
	in_service = irq;
	left_by = NULL;
	if (setjmp(left) == 0)
		upcall(&vmm_frames[pc.upcall_depth]);
	return left_by;
}

static struct frame *return_with(u32 esp, u32 eip)
{
	u32 words[] = { eip, SELECTOR_VMM_CODE, EFLAGS_FIXED };

	vcpu.frame->esp = esp;
	left_by = NULL;
	if (setjmp(left) == 0)
		upcall_return(&pc, words);
	return left_by;
}

static void the_handler_finds_a_kernel_that_was_interrupted(void **state)
{
	struct frame before = frame;
	struct frame *to = interrupt(4);

	(void)state;
	assert_ptr_equal(to, handler(1));
	check_stacks();
	assert_int_equal(to->eip, HANDLER(BASE + 4));
	assert_int_equal(to->cs, KERNEL_CODE | 1);
	assert_int_equal(to->eflags & EFLAGS_IF, 0);
	assert_int_equal(to->esp, STACK - 12);
	assert_int_equal(to->ss, KERNEL_STACK | 1);
	assert_int_equal(to->ds, USER_DATA);
	assert_int_equal(word(STACK - 12), POINT);
	assert_int_equal(word(STACK - 8), SELECTOR_VMM_CODE);
	assert_int_equal(word(STACK - 4), frame.eflags);
	assert_memory_equal(&frame, &before, sizeof(frame));
	assert_int_equal(vcpu.counters[COUNTER_upcalls], 1);
	assert_int_equal(vcpu.counters[COUNTER_upcalls_nested], 0);

	assert_ptr_equal(return_with(STACK - 12, POINT), &vmm_frames[0]);
	assert_ptr_equal(vcpu.frame, &frame);
	assert_int_equal(real_tables.tss.esp0, (u32)(uintptr_t)(&frame + 1));
	assert_memory_equal(&frame, &before, sizeof(frame));
	assert_int_equal(pc.upcall_depth, 0);
	check_stacks();
}

static void they_nest_and_end_in_order(void **state)
{
	(void)state;
	for (u32 depth = 0; depth < UPCALL_DEPTH; depth++) {
		upcall_point(&pc);
		assert_int_equal(processor.admissions, depth + 1);
		assert_non_null(interrupt(0));
		assert_int_equal(pc.upcall_depth, depth + 1);
		check_stacks();
		/* Its softirqs, which fault. */
		vcpu.frame->eflags |= EFLAGS_IF;
	}
	assert_int_equal(vcpu.counters[COUNTER_upcalls], UPCALL_DEPTH);
	assert_int_equal(vcpu.counters[COUNTER_upcalls_nested], UPCALL_DEPTH - 1);
	upcall_point(&pc);
	assert_int_equal(processor.admissions, UPCALL_DEPTH);
	assert_int_equal(vcpu.counters[COUNTER_upcall_refusals], 1);
	/* The outer ones first, or with another EIP: nothing happens. */
	assert_null(return_with(STACK - 12, POINT));
	assert_null(return_with(STACK - 12 * UPCALL_DEPTH, POINT));
	for (u32 depth = UPCALL_DEPTH; depth-- > 0;) {
		assert_ptr_equal(return_with(STACK - 12 * (depth + 1), POINT + depth),
				 &vmm_frames[depth]);
		assert_ptr_equal(vcpu.frame, depth == 0 ? &frame : handler(depth));
	}
	/* Once more than there were. */
	assert_null(return_with(STACK - 12, POINT));
	assert_ptr_equal(vcpu.frame, &frame);
}

static void what_is_suspended_at_a_start_is_given_up(void **state)
{
	(void)state;
	for (u32 depth = 0; depth < UPCALL_DEPTH; depth++)
		assert_non_null(interrupt(0));
	upcall_reset(&pc);
	assert_int_equal(pc.upcall_depth, 0);
	assert_int_equal(pc.irq_bases[0], 0);
	check_stacks();
}

static void a_point_opens_for_a_guest_that_has_interrupts_enabled(void **state)
{
	(void)state;
	frame.eflags &= ~EFLAGS_IF;
	upcall_point(&pc);
	assert_int_equal(processor.admissions, 0);
	assert_int_equal(vcpu.counters[COUNTER_upcall_refusals], 0);
	frame.eflags |= EFLAGS_IF;
	upcall_point(&pc);
	assert_int_equal(processor.admissions, 1);
}

static void without_one_in_service_the_work_goes_on(void **state)
{
	(void)state;
	assert_null(interrupt(-1));
	assert_int_equal(pc.upcall_depth, 0);
	assert_ptr_equal(vcpu.frame, &frame);
	assert_int_equal(vcpu.counters[COUNTER_upcalls], 0);
}

static void a_stack_that_takes_nothing_ends_the_guest(void **state)
{
	(void)state;
	frame.esp = 0x1000;
	assert_non_null(interrupt(0));
	assert_int_equal(stops, 1);
}

static void vectors_are_learnt_during_halts(void **state)
{
	(void)state;
	assert_non_null(interrupt(13));
	assert_int_equal(handler(1)->eip, HANDLER(BASE + 13));
	start(NULL);
	/* Another place for the second controller only, then for the first and so for both. */
	in_service = 9;
	upcall_learn(&pc, 0x71);
	assert_non_null(interrupt(8));
	assert_int_equal(handler(1)->eip, HANDLER(0x70));
	start(NULL);
	in_service = -1;
	upcall_learn(&pc, 0x50);
	in_service = 3;
	upcall_learn(&pc, 0x53);
	assert_non_null(interrupt(15));
	assert_int_equal(handler(1)->eip, HANDLER(0x5f));
	/* The old way: no points. */
	linux_reset();
	in_service = 0;
	upcall_learn(&pc, BASE);
	assert_int_equal(pc.irq_bases[0], 0);
	/* The second alone says nothing of the first. */
	core.interruptible = true;
	in_service = 8;
	linux_reset();
	core.interruptible = true;
	upcall_learn(&pc, 0x70);
	assert_int_equal(pc.irq_bases[0], 0);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_handler_finds_a_kernel_that_was_interrupted),
		TEST(they_nest_and_end_in_order),
		TEST(what_is_suspended_at_a_start_is_given_up),
		TEST(a_point_opens_for_a_guest_that_has_interrupts_enabled),
		TEST(without_one_in_service_the_work_goes_on),
		TEST(a_stack_that_takes_nothing_ends_the_guest),
		TEST(vectors_are_learnt_during_halts),
	};

	if (mmap((void *)LAYOUT_STACK, 16 * PAGE_SIZE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 1;
	return RUN_TESTS(tests);
}
