/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upcalls: what the guest's handler finds, how deep they go, and returns that are forged.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <setjmp.h>

#include "guests/x86/upcall.h"
#include "fake/map_at.h"
#include "fake/linux.h"

#define BASE 0x30u
#define POINT 0xfc512345u

static jmp_buf left;
static struct frame *left_by;
static u32 table[1024]; /* of LAYOUT_VCPU */
static struct frame vmm_frames[UPCALL_DEPTH + 1];
static int in_service;
static unsigned questions; /* to the 8259s: each takes port accesses */
static u32 apic_vector; /* what the APIC has in service */
static bool apic_alone;
u32 apic_base;

/*
 * Own stand-ins: entry_leave() does not return; of the interrupt controllers the test says what
 * apic_in_service(), i8259_in_service() and apic_write_for_guest() answer.
 */
u32 apic_in_service(void)
{
	return apic_vector;
}

bool apic_write_for_guest(u32 offset, u32 value)
{
	assert_int_equal(offset, 0x350);
	assert_int_equal(value, 0x12345678);
	return apic_alone;
}

/* What has come since the last point. */
static void apic_set(u32 vector)
{
	apic_vector = vector;
	*(u32 *)(uintptr_t)(LAYOUT_APIC + 0xa0) = vector & 0xf0;
}

int i8259_in_service(void)
{
	questions++;
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
				 depth >= x86.upcall_depth);
	assert_int_equal(is_writable(LAYOUT_STACK), x86.upcall_depth == 0);
}

static int start(void **state)
{
	(void)state;
	linux_reset();
	core.interruptible = true;
	policy_set(&x86, &fake_dedicated);
	x86.code_mask = x86.policy->code_mask;
	in_service = 0;
	apic_base = 0xfee00900;
	apic_set(0);
	memset(table, 0, sizeof(table));
	for (u32 page = LAYOUT_STACK; page < LAYOUT_STACK_TOP; page += PAGE_SIZE)
		table[page / PAGE_SIZE % 1024] = PTE_P | PTE_W;
	vcpu.table_frame = (u32)(uintptr_t)table;
	pool_rest = UPCALL_DEPTH;
	assert_true(upcall_create(&vcpu));
	pool_rest = UPCALL_DEPTH - 1;
	assert_false(upcall_create(&vcpu));
	upcall_reset(&x86);
	check_stacks();
	upcall_learn(&x86, BASE);
	assert_int_equal(x86.irq_bases[0], BASE);
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
		upcall(&vmm_frames[x86.upcall_depth]);
	return left_by;
}

static struct frame *return_with(u32 esp, u32 eip)
{
	u32 words[] = { eip, SELECTOR_VMM_CODE, EFLAGS_FIXED };

	vcpu.frame->esp = esp;
	left_by = NULL;
	if (setjmp(left) == 0)
		upcall_return(&x86, words);
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
	assert_int_equal(asked.traced.type, TRACE_upcall);
	assert_int_equal(asked.traced.first, BASE + 4);
	assert_int_equal(asked.traced.second, POINT);
	/* What the work has freed of page tables is forgotten by the CPU. */
	assert_int_equal(processor.cr3_writes, 1);

	assert_ptr_equal(return_with(STACK - 12, POINT), &vmm_frames[0]);
	assert_ptr_equal(vcpu.frame, &frame);
	assert_int_equal(real_tables.tss.esp0, (u32)(uintptr_t)(&frame + 1));
	assert_memory_equal(&frame, &before, sizeof(frame));
	assert_int_equal(x86.upcall_depth, 0);
	assert_int_equal(processor.cr3_writes, 2);
	check_stacks();
}

static void they_nest_and_end_in_order(void **state)
{
	(void)state;
	for (u32 depth = 0; depth < UPCALL_DEPTH; depth++) {
		upcall_point(&x86);
		assert_int_equal(processor.admissions, depth + 1);
		assert_non_null(interrupt(0));
		assert_int_equal(x86.upcall_depth, depth + 1);
		check_stacks();
		/* Its softirqs, which fault. */
		vcpu.frame->eflags |= EFLAGS_IF;
	}
	assert_int_equal(vcpu.counters[COUNTER_upcalls], UPCALL_DEPTH);
	assert_int_equal(vcpu.counters[COUNTER_upcalls_nested], UPCALL_DEPTH - 1);
	upcall_point(&x86);
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
	upcall_reset(&x86);
	assert_int_equal(x86.upcall_depth, 0);
	assert_int_equal(x86.irq_bases[0], 0);
	assert_int_equal(x86.irq_bases[1], 0);
	check_stacks();
}

static void a_point_opens_for_a_guest_that_has_interrupts_enabled(void **state)
{
	(void)state;
	frame.eflags &= ~EFLAGS_IF;
	upcall_point(&x86);
	assert_int_equal(processor.admissions, 0);
	assert_int_equal(vcpu.counters[COUNTER_upcall_refusals], 0);
	frame.eflags |= EFLAGS_IF;
	upcall_point(&x86);
	assert_int_equal(processor.admissions, 1);
}

static void without_one_in_service_the_work_goes_on(void **state)
{
	(void)state;
	assert_null(interrupt(-1));
	assert_int_equal(x86.upcall_depth, 0);
	assert_ptr_equal(vcpu.frame, &frame);
	assert_int_equal(vcpu.counters[COUNTER_upcalls], 0);
}

static void a_stack_that_takes_nothing_ends_the_guest(void **state)
{
	(void)state;
	frame.esp = 0x1000;
	assert_non_null(interrupt(0));
	assert_int_equal(asked.stops, 1);
}

static void vectors_are_learnt_during_halts(void **state)
{
	(void)state;
	assert_non_null(interrupt(13));
	assert_int_equal(handler(1)->eip, HANDLER(BASE + 13));
	start(NULL);
	/* Another place for the second controller only, then for the first and so for both. */
	in_service = 9;
	upcall_learn(&x86, 0x71);
	assert_non_null(interrupt(8));
	assert_int_equal(handler(1)->eip, HANDLER(0x70));
	start(NULL);
	in_service = -1;
	upcall_learn(&x86, 0x50);
	in_service = 3;
	upcall_learn(&x86, 0x53);
	assert_non_null(interrupt(15));
	assert_int_equal(handler(1)->eip, HANDLER(0x5f));
	/* The old way: no points. */
	linux_reset();
	in_service = 0;
	upcall_learn(&x86, BASE);
	assert_int_equal(x86.irq_bases[0], 0);
	/* The second alone says nothing of the first. */
	core.interruptible = true;
	in_service = 8;
	linux_reset();
	core.interruptible = true;
	upcall_learn(&x86, 0x70);
	assert_int_equal(x86.irq_bases[0], 0);
}

static void learn(int irq, u32 vector)
{
	in_service = irq;
	questions = 0;
	upcall_learn(&x86, vector);
}

/* One of the first tells of both, one of the second of that alone. */
static void each_interrupt_tells_of_its_controller(void **state)
{
	(void)state;
	for (int irq = 0; irq < 16; irq++) {
		start(NULL);
		upcall_reset(&x86);
		learn(irq, 0x50 + (u32)irq);
		assert_int_equal(x86.irq_bases[0], irq < 8 ? 0x50 : 0);
		assert_int_equal(x86.irq_bases[1], 0x58);
		assert_int_equal(x86.point == upcall_point, irq < 8);
		/* Writes to the APIC do not make the first one known. */
		apic_alone = false;
		upcall_apic_write(&x86, 0x350, 0x12345678);
		assert_int_equal(x86.point == upcall_point, irq < 8);
		assert_non_null(interrupt(irq));
		assert_int_equal(handler(1)->eip, HANDLER(0x50 + (u32)irq));
	}
}

/* What is known costs no look, what lies beside it is another place. */
static void known_vectors_are_not_learnt_again(void **state)
{
	(void)state;
	learn(8, 0x70);
	for (u32 i = 0; i < 8; i++) {
		learn(0, BASE + i);
		assert_int_equal(questions, 0);
		learn(0, 0x70 + i);
		assert_int_equal(questions, 0);
	}
	assert_int_equal(x86.irq_bases[0], BASE);
	assert_int_equal(x86.irq_bases[1], 0x70);
	learn(0, BASE + 8);
	assert_int_equal(x86.irq_bases[0], BASE + 8);
	assert_int_equal(x86.irq_bases[1], BASE + 16);
	learn(7, BASE + 7);
	assert_int_equal(x86.irq_bases[0], BASE);
	learn(0, BASE + 16);
	assert_int_equal(x86.irq_bases[0], BASE + 16);
}

/* Who suspends whom, at points that have looked at the APIC. */
static void the_apic_s_interrupts_are_told_from_the_8259s(void **state)
{
	(void)state;
	upcall_point(&x86);
	apic_set(0x61);
	assert_ptr_equal(interrupt(2), handler(1));
	assert_int_equal(handler(1)->eip, HANDLER(0x61));
	vcpu.frame->eflags |= EFLAGS_IF;
	/* One of the 8259s, which the APIC does not count; then one more of the APIC. */
	upcall_point(&x86);
	assert_ptr_equal(interrupt(1), handler(2));
	assert_int_equal(handler(2)->eip, HANDLER(BASE + 1));
	vcpu.frame->eflags |= EFLAGS_IF;
	upcall_point(&x86);
	apic_set(0x72);
	assert_ptr_equal(interrupt(1), handler(3));
	assert_int_equal(handler(3)->eip, HANDLER(0x72));
}

static void a_point_lets_one_interrupt_in(void **state)
{
	(void)state;
	vmm_frames[0].eflags = EFLAGS_IF | EFLAGS_FIXED;
	assert_non_null(interrupt(0));
	assert_int_equal(vmm_frames[0].eflags, EFLAGS_FIXED);
}

static void without_an_apic_it_is_not_asked(void **state)
{
	(void)state;
	apic_base = 0;
	upcall_point(&x86);
	apic_set(0x61);
	assert_ptr_equal(interrupt(2), handler(1));
	assert_int_equal(handler(1)->eip, HANDLER(BASE + 2));
}

/* What comes during a halt by the APIC tells nothing of the 8259s, which may serve another. */
static void points_open_when_no_vector_is_unknown(void **state)
{
	(void)state;
	assert_true(x86.point == upcall_point);
	upcall_reset(&x86);
	assert_null(x86.point);
	in_service = 3;
	apic_set(0x61);
	upcall_learn(&x86, 0x61);
	assert_int_equal(x86.irq_bases[0], 0);
	assert_null(x86.point);
	for (unsigned i = 0; i < 6; i++) {
		apic_alone = i % 2 != 0;
		core.interruptible = i < 4;
		upcall_apic_write(&x86, 0x350, 0x12345678);
		assert_int_equal(x86.point == upcall_point, i < 4 && (apic_alone || i >= 2));
		if (i == 1) {
			/* A spurious one, and none that could be told. */
			apic_set(0);
			assert_null(interrupt(3));
			upcall_learn(&x86, BASE + 3);
		}
	}
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
		TEST(each_interrupt_tells_of_its_controller),
		TEST(known_vectors_are_not_learnt_again),
		TEST(the_apic_s_interrupts_are_told_from_the_8259s),
		TEST(a_point_lets_one_interrupt_in),
		TEST(without_an_apic_it_is_not_asked),
		TEST(points_open_when_no_vector_is_unknown),
	};

	if (!map_at(LAYOUT_STACK, 16 * PAGE_SIZE) || !map_at(LAYOUT_APIC, PAGE_SIZE))
		return 1;
	return RUN_TESTS(tests);
}
