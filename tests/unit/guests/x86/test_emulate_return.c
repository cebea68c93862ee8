/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupt flag, halts, IRET and other loads of CS and SS, through the decoder and the table.
 */
#include "unit.h"

#include "emulate_at.h"

static void the_interrupt_flag(void **state)
{
	(void)state;
	EXECUTE("\xfb");
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	EXECUTE("\xfa");
	assert_int_equal(shared.interrupt_flag, 0);
	assert_int_equal(frame.eflags & EFLAGS_IF, EFLAGS_IF);
	assert_int_equal(vcpu.counters[COUNTER_emulations], 2);
}

static void halting(void **state)
{
	(void)state;
	/* STI; HLT as one. */
	fault_at("\xfb\xf4", 2, 0);
	assert_int_equal(frame.eip, CODE + 2);
	assert_int_equal(vcpu.state, VCPU_HALTED);
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	/* Something waits: no sleep. */
	vcpu.state = VCPU_RUNNING;
	x86.interrupt_waits = true;
	fault_at("\xfb\xf4", 2, 0);
	assert_int_equal(vcpu.state, VCPU_RUNNING);
	assert_int_equal(frame.eip, CODE + 2);
	/* Nor if it comes of a chip that nobody has looked at. */
	x86.interrupt_waits = false;
	settled_interrupt = true;
	fault_at("\xf4", 1, 0);
	assert_int_equal(vcpu.state, VCPU_RUNNING);
	x86.interrupt_waits = settled_interrupt = false;
	fault_at("\xf4", 1, 0);
	assert_int_equal(vcpu.state, VCPU_HALTED);
	assert_int_equal(settles, 4);
	/* For ever. */
	vcpu.state = VCPU_RUNNING;
	shared.interrupt_flag = 0;
	fault_at("\xf4", 1, 0);
	assert_int_equal(asked.power_offs, 1);
}

/* A halt whose guest a sibling resets meanwhile is none, neither for a while nor for ever. */
static void a_reset_amid_a_halt_leaves_the_vcpu_off(void **state)
{
	(void)state;
	settled_reset = true;
	for (u32 flag = 0; flag <= GANDALF_INTERRUPT_FLAG; flag += GANDALF_INTERRUPT_FLAG) {
		vcpu.state = VCPU_RUNNING;
		shared.interrupt_flag = flag;
		fault_at("\xf4", 1, 0);
		assert_int_equal(vcpu.state, VCPU_OFF);
	}
	assert_int_equal(asked.power_offs, 0);
}

static void returns_to_the_kernel(void **state)
{
	(void)state;
	put_return(0xc0100000, KERNEL_CODE, 0x246, 0, 0);
	fault_at("\xcf", 1, 0);
	assert_int_equal(frame.eip, 0xc0100000);
	assert_int_equal(frame.cs, KERNEL_CODE | 1);
	assert_int_equal(frame.esp, STACK + 12);
	assert_int_equal(frame.eflags, 0x246);
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	put_return(0xc0100000, KERNEL_CODE, 0x46, 0, 0);
	fault_at("\xcf", 1, KERNEL_CODE);
	assert_int_equal(shared.interrupt_flag, 0);
	assert_int_equal(frame.eflags, 0x246);
}

/* It may be the end of an upcall; if it is not, it is the guest's mistake. */
static void returns_to_the_vmm_end_upcalls(void **state)
{
	(void)state;
	upcall_eip = 0;
	put_return(0xfc500000, SELECTOR_VMM_CODE, 0x246, 0, 0);
	fault_at("\xcf", 1, SELECTOR_VMM_CODE);
	assert_int_equal(upcall_eip, 0xfc500000);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
	assert_int_equal(word(frame.esp), SELECTOR_VMM_CODE);
	assert_int_equal(asked.stops, 0);
}

static void returns_to_a_process(void **state)
{
	(void)state;
	put_return(0x08048000, USER_CODE, 0x3246, 0xbffff000, USER_DATA);
	fault_at("\xcf", 1, 0);
	assert_int_equal(frame.eip, 0x08048000);
	assert_int_equal(frame.cs, USER_CODE);
	assert_int_equal(frame.esp, 0xbffff000);
	assert_int_equal(frame.ss, USER_DATA);
	/* IOPL is not the guest's to give. */
	assert_int_equal(frame.eflags, 0x246);
	start(NULL);
	policy_set(&x86, &fake_dedicated);
	vcpu.eflags = EFLAGS_FIXED | EFLAGS_IOPL_1;
	put_return(0x08048000, USER_CODE, 0x3246, 0xbffff000, USER_DATA);
	fault_at("\xcf", 1, 0);
	assert_int_equal(frame.eflags, 0x1246);
}

/* Whatever a frame says, the VMM's own IRET can load it. */
static void forged_returns_fault(void **state)
{
	static const struct {
		u32 eip, cs, eflags, ss;
	} bad[] = {
		{ 0, 0, 2, 0 },                       /* null */
		{ 0, KERNEL_STACK, 2, 0 },            /* data */
		{ 0, 0x100, 2, 0 },                   /* the VMM's code */
		{ 0, 0x103, 2, USER_DATA },
		{ 0, KERNEL_CODE | 4, 2, 0 },         /* a local descriptor table */
		{ 0, 0x98, 2, 0 },                    /* empty */
		{ 0, USER_CODE & ~3u, 2, 0 },         /* ring 3's at ring 1 */
		{ 0, KERNEL_CODE | 3, 2, USER_DATA }, /* and the reverse */
		{ 0, USER_CODE, 2, 0 },               /* stacks */
		{ 0, USER_CODE, 2, KERNEL_STACK | 1 },
		{ 0, USER_CODE, 2, KERNEL_STACK | 3 },
		{ 0, USER_CODE, 2, USER_CODE },
		{ 0, USER_CODE, 2, 0x10b },
		{ 0, KERNEL_CODE, 0x20002, 0 },       /* virtual 8086 mode */
		{ GANDALF_BASE + 0x2000, KERNEL_CODE, 2, 0 },
		{ 0xffffffff, USER_CODE, 2, USER_DATA },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		start(NULL);
		put_return(bad[i].eip, bad[i].cs, bad[i].eflags, 0x1000, bad[i].ss);
		fault_at("\xcf", 1, 0);
		assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
		assert_int_equal(frame.cs, KERNEL_CODE | 1);
		assert_int_equal(vcpu.counters[COUNTER_returns], 0);
	}
}

/* Random frames: no bit of EFLAGS and no selector that is not the guest's. */
static void no_return_gains_privilege(void **state)
{
	u32 random = 1;
	unsigned returned = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		u32 cs = random_next(&random) % 2 ? USER_CODE : KERNEL_CODE;
		u32 ss = random_next(&random) % 2 ? USER_DATA : random_next(&random) & 0x1ff;

		start(NULL);
		if (random_next(&random) % 3 == 0)
			cs = random_next(&random) & 0x1ff;
		put_return(random_next(&random), cs, random_next(&random) & ~EFLAGS_VM,
			   random_next(&random), ss);
		fault_at("\xcf", 1, 0);
		assert_int_equal(frame.eflags & (EFLAGS_IOPL | EFLAGS_VM), 0);
		assert_int_equal(frame.eflags & EFLAGS_IF, EFLAGS_IF);
		assert_int_not_equal(frame.cs & 3, 0);
		assert_int_not_equal(frame.ss & 3, 0);
		assert_true(frame.cs < SEGMENT_GUEST_ENTRIES * 8);
		assert_true(frame.ss < SEGMENT_GUEST_ENTRIES * 8);
		returned += vcpu.counters[COUNTER_returns];
	}
	assert_true(returned > 3000);
}

static void stacks_of_ring_0_become_those_of_ring_1(void **state)
{
	static const u32 bad[] = { 0, 0x98, KERNEL_CODE, USER_DATA & ~3u, 0x108, KERNEL_STACK | 4,
				   USER_DATA, 0xfff8 };

	(void)state;
	frame.ss = USER_DATA;
	frame.eax = 0x12340000 | KERNEL_STACK;
	fault_at("\x8e\xd0", 2, KERNEL_STACK);
	assert_int_equal(frame.eip, CODE + 2);
	assert_int_equal(frame.ss, KERNEL_STACK | 1);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		frame.eax = bad[i];
		fault_at("\x8e\xd0", 2, bad[i] & 0xfffc);
		assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
		assert_int_equal(word(frame.esp), bad[i] & 0xfffc);
		assert_int_equal(frame.ss, KERNEL_STACK | 1);
		frame.esp = STACK;
	}
	/* Other segment registers load themselves; their faults are the guest's. */
	fault_at("\x8e\xd8", 2, 0x100);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
}

static void a_return_that_was_blocked_is_emulated(void **state)
{
	(void)state;
	put_return(0x08048000, USER_CODE, 0x246, 0xbffff000, USER_DATA);
	memset(linear_at(CODE), 0xcf, 1);
	assert_false(emulate_blocked_return(&x86));
	/* An interrupt waits, and ring 3's code segment is absent. */
	x86.armed = true;
	segment_set_user_code(&vcpu, false);
	assert_true(emulate_blocked_return(&x86));
	assert_int_equal(frame.cs, USER_CODE);
	assert_int_equal(vcpu.counters[COUNTER_return_faults], 1);
	frame.cs = KERNEL_CODE | 1;
	frame.eip = CODE;
	memset(linear_at(CODE), 0x90, 1);
	assert_false(emulate_blocked_return(&x86));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_interrupt_flag),
		TEST(halting),
		TEST(a_reset_amid_a_halt_leaves_the_vcpu_off),
		TEST(returns_to_the_kernel),
		TEST(returns_to_the_vmm_end_upcalls),
		TEST(returns_to_a_process),
		TEST(forged_returns_fault),
		TEST(no_return_gains_privilege),
		TEST(stacks_of_ring_0_become_those_of_ring_1),
		TEST(a_return_that_was_blocked_is_emulated),
	};

	return RUN_TESTS(tests);
}
