/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames that a Linux guest finds on its stack after an injection (SDM vol. 3,
 * 6.12), and guests that leave no room for one.
 */
#include "unit.h"

#include "guests/x86/emulate.h"
#include "fake/linux.h"

void processor_sleep(void)
{
	fail();
}

static int start(void **state)
{
	(void)state;
	linux_reset();
	return 0;
}

static void check_words(u32 address, const u32 *words, u32 count)
{
	for (u32 i = 0; i < count; i++)
		assert_int_equal(word(address + i * 4), words[i]);
}

static void to_ring_3(void)
{
	frame.cs = USER_CODE;
	frame.ss = USER_DATA;
	frame.eip = 0x08048123;
	frame.esp = 0xbffff000;
}

static void the_kernel_sees_itself_in_ring_0(void **state)
{
	const u32 words[] = { CODE, KERNEL_CODE, EFLAGS_IF | 0x43 };

	(void)state;
	shared.interrupt_flag = GANDALF_INTERRUPT_FLAG;
	frame.eflags |= EFLAGS_IOPL_1;
	assert_true(inject(&x86, 0x20, INJECT_NO_ERROR));
	assert_int_equal(frame.esp, STACK - 12);
	check_words(frame.esp, words, 3);
	assert_int_equal(frame.eip, HANDLER(0x20));
	assert_int_equal(frame.cs, KERNEL_CODE | 1);
	assert_int_equal(frame.ss, KERNEL_STACK | 1);
	assert_int_equal(shared.interrupt_flag, 0);
	assert_int_equal(vcpu.counters[COUNTER_deliveries], 1);
	assert_int_equal(real_tables.tss.esp1, 0);
}

static void the_flag_in_the_frame_is_the_virtual_one(void **state)
{
	(void)state;
	assert_true(inject(&x86, 0x20, INJECT_NO_ERROR));
	assert_int_equal(word(frame.esp + 8) & EFLAGS_IF, 0);
	/* The real one stays set. */
	assert_int_equal(frame.eflags & EFLAGS_IF, EFLAGS_IF);
	start(NULL);
	policy_set(&x86, &fake_dedicated);
	frame.eflags |= EFLAGS_IF;
	assert_true(inject(&x86, 0x20, INJECT_NO_ERROR));
	assert_int_equal(word(frame.esp + 8) & EFLAGS_IF, EFLAGS_IF);
	assert_int_equal(frame.eflags & EFLAGS_IF, 0);
}

static void ring_3_changes_to_the_stack_of_the_tss(void **state)
{
	const u32 words[] = { 0x6, 0x08048123, USER_CODE, EFLAGS_IF | 0x43, 0xbffff000,
			      USER_DATA };

	(void)state;
	to_ring_3();
	x86.tss_base = TSS;
	assert_true(inject(&x86, EXCEPTION_PF, 6));
	assert_int_equal(frame.esp, ENTRY_STACK - 24);
	check_words(frame.esp, words, 6);
	assert_int_equal(frame.ss, KERNEL_STACK | 1);
	assert_int_equal(frame.cs, KERNEL_CODE | 1);
	assert_int_equal(real_tables.tss.esp1, ENTRY_STACK);
	assert_int_equal(real_tables.tss.ss1, KERNEL_STACK | 1);
	assert_int_equal(vcpu.counters[COUNTER_exceptions], 1);
}

static void every_vector_goes_through_its_gate(void **state)
{
	(void)state;
	for (u32 vector = 0; vector < 256; vector++) {
		start(NULL);
		assert_true(inject(&x86, vector, INJECT_NO_ERROR));
		assert_int_equal(frame.eip, HANDLER(vector));
		assert_int_equal(asked.stops, 0);
	}
}

static void trap_gates_keep_the_flag(void **state)
{
	(void)state;
	for (u32 enabled = 0; enabled < 2; enabled++) {
		start(NULL);
		shared.interrupt_flag = enabled ? GANDALF_INTERRUPT_FLAG : 0;
		put_gate(3, 0xef);
		assert_true(inject(&x86, 3, INJECT_NO_ERROR));
		assert_int_equal(shared.interrupt_flag, enabled ? GANDALF_INTERRUPT_FLAG : 0);
	}
}

static void single_step_and_nested_task_end_at_the_handler(void **state)
{
	(void)state;
	frame.eflags |= EFLAGS_TF | EFLAGS_NT | EFLAGS_RF;
	assert_true(inject(&x86, 1, INJECT_NO_ERROR));
	assert_int_equal(word(frame.esp + 8) & (EFLAGS_TF | EFLAGS_NT | EFLAGS_RF),
			 EFLAGS_TF | EFLAGS_NT | EFLAGS_RF);
	assert_int_equal(frame.eflags & (EFLAGS_TF | EFLAGS_NT | EFLAGS_RF | EFLAGS_VM), 0);
}

/* A dedicated guest returns with its own IRET once it no longer compares CS. */
static void a_dedicated_guest_sees_ring_1_after_ltr(void **state)
{
	(void)state;
	policy_set(&x86, &fake_dedicated);
	assert_true(inject(&x86, 3, INJECT_NO_ERROR));
	assert_int_equal(word(frame.esp + 4), KERNEL_CODE);
	x86.code_mask = x86.policy->code_mask;
	assert_true(inject(&x86, 3, INJECT_NO_ERROR));
	assert_int_equal(word(frame.esp + 4), KERNEL_CODE | 1);
}

static void a_page_fault_brings_its_address(void **state)
{
	(void)state;
	inject_page_fault(&x86, 0xdeadb000, 7);
	assert_int_equal(shared.cr2, 0xdeadb000);
	assert_int_equal(word(frame.esp), 7);
	assert_int_equal(frame.eip, HANDLER(14));
	assert_int_equal(vcpu.counters[COUNTER_guest_page_faults], 1);
	inject_general_protection(&x86, 0x1234);
	assert_int_equal(word(frame.esp), 0x1234);
	assert_int_equal(frame.eip, HANDLER(13));
	assert_int_equal(asked.traced.type, TRACE_exception);
	assert_int_equal(asked.traced.first, EXCEPTION_GP);
	assert_int_equal(asked.traced.second, HANDLER(14));
}

static void check_stopped(void)
{
	assert_int_equal(asked.stops + asked.reboots, 1);
	assert_int_equal(vcpu.state, VCPU_OFF);
	/* The report shows where it was. */
	assert_int_equal(frame.eip, CODE);
}

static void without_a_gate_the_guest_ends(void **state)
{
	(void)state;
	static const u32 types[] = { 0x0e, 0x85, 0x8c, 0x86, 0x9e, 0x00 };

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		start(NULL);
		put_gate(13, types[i]);
		assert_false(inject(&x86, 13, 0));
		check_stopped();
	}
	start(NULL);
	x86.idt_limit = 13 * 8 + 6;
	assert_false(inject(&x86, 13, 0));
	check_stopped();
	start(NULL);
	linear_absent[1] = true;
	assert_false(inject(&x86, 13, 0));
	check_stopped();
	start(NULL);
	x86.idt_base = GANDALF_BASE - 8;
	assert_false(inject(&x86, 13, 0));
	check_stopped();
	start(NULL);
	x86.idt_limit = 0;
	assert_false(inject(&x86, 3, INJECT_NO_ERROR));
	check_stopped();
}

static void a_stack_that_takes_nothing_ends_the_guest(void **state)
{
	static const u32 stacks[] = { 0, 4, 11, GANDALF_BASE + 4, 0xffffffff, 0xfc013000,
				      LINEAR_FIRST + 8 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		start(NULL);
		frame.esp = stacks[i];
		assert_false(inject(&x86, 0x20, INJECT_NO_ERROR));
		check_stopped();
	}
	/* A page that the kernel could not write either. */
	start(NULL);
	linear_read_only[(STACK - LINEAR_FIRST) / PAGE_SIZE] = true;
	assert_false(inject(&x86, 0x20, INJECT_NO_ERROR));
	check_stopped();
}

/* The low byte of a gate's second word says nothing to a CPU without IST. */
static void reserved_bits_of_a_gate_mean_nothing(void **state)
{
	(void)state;
	shared.interrupt_flag = GANDALF_INTERRUPT_FLAG;
	put_descriptor(IDT, 3, 0xc1238eff00614566);
	assert_true(inject(&x86, 3, INJECT_NO_ERROR));
	assert_int_equal(frame.eip, 0xc1234566);
	assert_int_equal(shared.interrupt_flag, 0);
	start(NULL);
	put_descriptor(IDT, 3, 0xc1238e0000614567);
	assert_true(inject(&x86, 3, INJECT_NO_ERROR));
	assert_int_equal(frame.eip, 0xc1234567);
	start(NULL);
	put_descriptor(IDT, 3, 0xc1230eff00614567);
	assert_false(inject(&x86, 3, INJECT_NO_ERROR));
	check_stopped();
}

static void the_end_says_what_could_not_be_delivered(void **state)
{
	static const struct {
		u32 vector;
		const char *words;
	} cases[] = {
		{ 13, "triple fault: its IDT has no gate for #13" },
		{ 31, "triple fault: its IDT has no gate for #31" },
		{ 32, "triple fault: its IDT has no gate for an interrupt" },
		{ 255, "triple fault: its IDT has no gate for an interrupt" },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		start(NULL);
		put_gate(cases[i].vector, 0);
		assert_false(inject(&x86, cases[i].vector, INJECT_NO_ERROR));
		assert_string_equal(asked.stop_reason, cases[i].words);
	}
}

#define PAGE (STACK & PTE_FRAME)

static bool takes_frame_at(u32 esp, u32 read_only)
{
	start(NULL);
	frame.esp = esp;
	linear_read_only[(read_only - LINEAR_FIRST) / PAGE_SIZE] = true;
	return inject(&x86, 0x20, INJECT_NO_ERROR);
}

/* Each page that a frame touches must be one that the kernel could write, and no other. */
static void a_frame_may_touch_two_pages(void **state)
{
	const u32 next = PAGE + PAGE_SIZE;

	(void)state;
	for (u32 esp = next + 1; esp < next + 12; esp++) {
		assert_false(takes_frame_at(esp, PAGE));
		check_stopped();
		assert_false(takes_frame_at(esp, next));
		check_stopped();
		assert_true(takes_frame_at(esp, next + PAGE_SIZE));
		assert_int_equal(linear_questions, 2);
	}
	/* It ends with the page, or begins with it. */
	assert_true(takes_frame_at(next, next));
	assert_int_equal(linear_questions, 1);
	assert_true(takes_frame_at(PAGE + 12, PAGE - PAGE_SIZE));
	assert_int_equal(linear_questions, 1);
}

/* Where the shadow has the page writable nothing is asked, and a store that fails all the same is
 * not taken for one that has been done. */
static void a_store_that_fails_is_noticed(void **state)
{
	(void)state;
	for (u32 user = 0; user < 2; user++) {
		for (u32 absent = 0; absent < 2; absent++) {
			start(NULL);
			empty_directory[0] = PTE_P | PTE_W | PTE_PS;
			if (user) {
				to_ring_3();
				x86.tss_base = TSS;
				put_word(TSS + 4, STACK);
			}
			linear_absent[(PAGE - LINEAR_FIRST) / PAGE_SIZE] = absent;
			assert_int_equal(inject(&x86, EXCEPTION_PF, 6), !absent);
			assert_int_equal(asked.stops, absent);
			assert_int_equal(linear_questions, 0);
		}
	}
}

/* Part of a frame of ring 3 is in a page that goes: its stack pointer, then what is below. */
static void half_a_frame_is_none(void **state)
{
	(void)state;
	for (u32 words = 1; words < 6; words++) {
		start(NULL);
		empty_directory[0] = PTE_P | PTE_W | PTE_PS;
		to_ring_3();
		x86.tss_base = TSS;
		put_word(TSS + 4, PAGE + words * 4);
		linear_absent[(PAGE - LINEAR_FIRST) / PAGE_SIZE - 1] = true;
		assert_false(inject(&x86, EXCEPTION_PF, 6));
		assert_int_equal(asked.stops, 1);
		assert_int_equal(frame.eip, 0x08048123);
		assert_int_equal(frame.esp, 0xbffff000);
		assert_int_equal(frame.ss, USER_DATA);
	}
}

static void no_frame_reaches_into_the_vmm(void **state)
{
	(void)state;
	frame.esp = GANDALF_BASE;
	assert_false(inject(&x86, 0x20, INJECT_NO_ERROR));
	assert_int_equal(linear_asked, GANDALF_BASE - 12);
	for (u32 inside = 1; inside < 24; inside++) {
		start(NULL);
		frame.esp = GANDALF_BASE + inside;
		assert_false(inject(&x86, 0x20, INJECT_NO_ERROR));
		assert_int_equal(linear_questions, 0);
		check_stopped();
	}
}

/* A gate may name any selector: what the VMM loads is one of ring 1 at most. */
static void selectors_of_gates_lose_their_privilege(void **state)
{
	(void)state;
	for (u32 selector = 0; selector < 0x200; selector++) {
		start(NULL);
		put_descriptor(IDT, 3, (u64)selector << 16 | 0x8e0000000000);
		assert_true(inject(&x86, 3, INJECT_NO_ERROR));
		assert_int_equal(frame.cs & 3, 1);
		assert_int_equal(frame.cs & ~3u, selector & ~3u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_kernel_sees_itself_in_ring_0, start),
		cmocka_unit_test_setup(the_flag_in_the_frame_is_the_virtual_one, start),
		cmocka_unit_test_setup(ring_3_changes_to_the_stack_of_the_tss, start),
		cmocka_unit_test_setup(every_vector_goes_through_its_gate, start),
		cmocka_unit_test_setup(trap_gates_keep_the_flag, start),
		cmocka_unit_test_setup(single_step_and_nested_task_end_at_the_handler, start),
		cmocka_unit_test_setup(a_dedicated_guest_sees_ring_1_after_ltr, start),
		cmocka_unit_test_setup(a_page_fault_brings_its_address, start),
		cmocka_unit_test_setup(without_a_gate_the_guest_ends, start),
		cmocka_unit_test_setup(a_stack_that_takes_nothing_ends_the_guest, start),
		cmocka_unit_test_setup(no_frame_reaches_into_the_vmm, start),
		cmocka_unit_test_setup(half_a_frame_is_none, start),
		cmocka_unit_test_setup(a_store_that_fails_is_noticed, start),
		cmocka_unit_test_setup(a_frame_may_touch_two_pages, start),
		cmocka_unit_test_setup(the_end_says_what_could_not_be_delivered, start),
		cmocka_unit_test_setup(reserved_bits_of_a_gate_mean_nothing, start),
		cmocka_unit_test_setup(selectors_of_gates_lose_their_privilege, start),
	};

	return RUN_TESTS(tests);
}
