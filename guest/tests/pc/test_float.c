/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FPU: #NM as CR0 says, and registers that survive traps and other guests.
 */
#include "float_check.h"
#include "machine.h"
#include "suite.h"

extern const char user_float[], user_float_trap[];

static struct float_state state;

static void begin(void)
{
	cr4_write(cr4_read() | CR4_OSFXSR);
	cr0_write((cr0_read() | CR0_MP | CR0_NE) & ~(CR0_TS | CR0_EM));
	__asm__ volatile("fninit");
}

static void test_task_switched(void)
{
	uint32_t address;

	begin();
	cr0_write(cr0_read() | CR0_TS);
	TRAP_PROVOKE("movl $9f, %0\n9:\tfld1", : "=m"(address));
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_NM);
	expect_equal(trap.eip, address);
	expect_equal(cr0_read() & CR0_TS, CR0_TS);
	TRAP_PROVOKE("fwait");
	expect_equal(trap.vector, VECTOR_NM);
	__asm__ volatile("clts");
	TRAP_PROVOKE("fld1\n\tfstp %%st(0)", : :);
	expect_equal(trap.count, 0);
}

static void test_emulated(void)
{
	begin();
	cr0_write(cr0_read() | CR0_EM);
	TRAP_PROVOKE("fld1");
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_NM);
	cr0_write(cr0_read() & ~CR0_EM);
}

static void test_error(void)
{
	static const uint16_t unmasked = 0x037b; /* division by zero */
	static const uint32_t zero;

	begin();
	TRAP_PROVOKE("fldcw %0\n\tfld1\n\tfdivs %1\n\tfwait", : : "m"(unmasked), "m"(zero));
	__asm__ volatile("fninit");
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_MF);
}

static void test_kept(void)
{
	begin();
	irq_disable();
	pic_init();
	irq_count[0] = 0;
	pic_unmask(1);
	pit_start(1000);
	for (uint32_t i = 1; i <= 30; i++) {
		float_load(&state, (uint32_t)time_stamp());
		irq_wait();
		expect(float_check(&state));
		TRAP_PROVOKE("ud2");
		expect(float_check(&state));
		expect(irq_count[0] >= i);
	}
	irq_disable();
	pit_stop();
	pic_unmask(0);
}

/* As a kernel without eager switching does it, by way of #NM. */
static void test_switched(void)
{
	static struct float_state other;

	begin();
	for (uint32_t i = 0; i < 20; i++) {
		float_load(&state, 2 * i);
		cr0_write(cr0_read() | CR0_TS);
		TRAP_PROVOKE("fld1");
		expect_equal(trap.vector, VECTOR_NM);
		__asm__ volatile("clts");
		expect(float_check(&state));
		float_load(&other, 2 * i + 1);
		expect(float_check(&other));
		expect(!float_check(&state));
	}
}

static void test_user(void)
{
	begin();
	cr0_write(cr0_read() | CR0_TS);
	user_trap(user_float);
	expect_equal(trap.vector, VECTOR_NM);
	expect_equal(trap.eip, (uint32_t)user_float_trap);
	expect_equal(trap.cs, USER_CODE);
	__asm__ volatile("clts");
	user_trap(user_float);
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eax, 1);
	__asm__ volatile("fninit");
}

static const struct tap_test float_tests[] = {
	{ "float-task-switched", test_task_switched },
	{ "float-emulated", test_emulated },
	{ "float-error", test_error },
	{ "float-kept", test_kept },
	{ "float-switched", test_switched },
	{ "float-user", test_user },
};
const struct tap_group group_float = TAP_GROUP(float_tests);
