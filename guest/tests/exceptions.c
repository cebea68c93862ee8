/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test guest: the exceptions that an RTOS can provoke reach its handlers with the
 * frame of the CPU. Not among them: #NM (the VMM's, for the lazy switch of the
 * FPU), #AC (for processes only), #MC, #DF, #TS, #NP.
 */
#include "guest.h"

#define FLAG_TRAP "0x100"

enum {
	DE = 0, DB = 1, BP = 3, OF = 4, BR = 5, UD = 6, SS = 12, GP = 13, PF = 14, MF = 16,
	XM = 19,
};

static uint32_t provoked_eip; /* label 9 of the last provocation */

static void check(uint32_t vector, uint32_t error, uint32_t eip)
{
	expect_equal(exception.count, 1);
	expect_equal(exception.vector, vector);
	expect_equal(exception.error, error);
	expect_equal(exception.eip, eip);
	expect_equal(exception.cs, own_code());
	expect_equal(exception.flag, 0);
}

static void test_divide(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tdivl %1",
			  : "=m"(provoked_eip) : "r"(0), "a"(1), "d"(0) : "cc");
	check(DE, 0, provoked_eip);
}

static void test_divide_overflow(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tidivl %1",
			  : "=m"(provoked_eip) : "r"(-1), "a"(0x80000000), "d"(-1) : "cc");
	check(DE, 0, provoked_eip);
}

static void test_single_step(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n\tpushfl\n\torl $" FLAG_TRAP ", (%%esp)\n\tpopfl\n\t"
			  "nop\n9:\tnop",
			  : "=m"(provoked_eip) : : "cc");
	check(DB, 0, provoked_eip);
	expect_equal(exception.eflags & 0x100, 0x100);
}

static void test_int1(void)
{
	if (emulator_is_qemu()) {
		tap_skip("QEMU does not know INT1");
		return;
	}
	EXCEPTION_PROVOKE("movl $9f, %0\n\t.byte 0xf1\n9:", : "=m"(provoked_eip));
	check(DB, 0, provoked_eip);
}

static void test_int3(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n\tint3\n9:", : "=m"(provoked_eip));
	check(BP, 0, provoked_eip);
}

static void test_int_3(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n\t.byte 0xcd, 3\n9:", : "=m"(provoked_eip));
	check(BP, 0, provoked_eip);
}

static void test_into(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n\tmovb $127, %%al\n\taddb $1, %%al\n\tinto\n9:",
			  : "=m"(provoked_eip) : : "eax", "cc");
	check(OF, 0, provoked_eip);
}

static void test_bound(void)
{
	const int32_t bounds[2] = { 1, 3 };

	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tboundl %1, %2",
			  : "=m"(provoked_eip) : "r"(4), "m"(bounds));
	check(BR, 0, provoked_eip);
}

static void test_undefined(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tud2", : "=m"(provoked_eip));
	check(UD, 0, provoked_eip);
}

static void test_bad_selector(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tmovw %w1, %%fs", : "=m"(provoked_eip) : "r"(0x1234));
	check(GP, 0x1234, provoked_eip);
}

static void test_null_stack(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tmovw %w1, %%ss", : "=m"(provoked_eip) : "r"(0));
	check(GP, 0, provoked_eip);
}

/* No gate may be used by INT but those of the hypercall, 3 and 4. */
static void test_software_interrupt(void)
{
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tint $0x30", : "=m"(provoked_eip));
	check(GP, 0x30 * 8 + 2, provoked_eip);
}

/* Checks the exception of an access beyond its memory: by its segment's limit it is the given one,
 * and by its pages a page fault of a user, which tells the address. */
static void check_beyond(uint32_t vector)
{
	if (cpu_ring() != 3) {
		check(vector, 0, provoked_eip);
		return;
	}
	check(PF, 4, provoked_eip);
	expect_equal(shared_page->cr2, shared_page->memory_size);
}

static void test_beyond_its_memory(void)
{
	if (!emulator_stops_outside()) {
		tap_skip("QEMU does not enforce segment limits");
		return;
	}
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tmovl (%1), %%eax",
			  : "=m"(provoked_eip) : "r"(shared_page->memory_size) : "eax");
	check_beyond(GP);
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tmovl %%ss:-2(%1), %%eax",
			  : "=m"(provoked_eip) : "r"(shared_page->memory_size) : "eax");
	check_beyond(SS);
}

static void test_x87(void)
{
	static const uint16_t unmasked = 0x037b; /* division by zero */
	static const uint32_t zero;

	EXCEPTION_PROVOKE("movl $9f, %0\n\tfninit\n\tfldcw %1\n\tfld1\n\tfdivs %2\n9:\tfwait",
			  : "=m"(provoked_eip) : "m"(unmasked), "m"(zero));
	__asm__ volatile("fninit");
	check(MF, 0, provoked_eip);
}

static void test_sse(void)
{
	static const uint32_t unmasked = 0x1d80, masked = 0x1f80; /* division by zero */

	if (emulator_is_qemu()) {
		tap_skip("QEMU raises no exception for SSE");
		return;
	}
	EXCEPTION_PROVOKE("movl $9f, %0\n\tldmxcsr %1\n\txorps %%xmm0, %%xmm0\n\t"
			  "movl $0x3f800000, %%eax\n\tpushl %%eax\n\tmovss (%%esp), %%xmm1\n\t"
			  "addl $4, %%esp\n9:\tdivss %%xmm0, %%xmm1",
			  : "=m"(provoked_eip) : "m"(unmasked) : "eax", "cc");
	__asm__ volatile("ldmxcsr %0" : : "m"(masked));
	check(XM, 0, provoked_eip);
}

/* The frame is on the interrupted stack and nothing lies below it. */
static void test_stack(void)
{
	uint32_t esp;

	EXCEPTION_PROVOKE("movl %%esp, %0\n\tud2", : "=r"(esp));
	expect_equal(exception.esp, esp - 12);
	EXCEPTION_PROVOKE("movl %%esp, %0\n\tmovw %w1, %%fs", : "=&r"(esp) : "r"(0x1234));
	expect_equal(exception.esp, esp - 16);
}

/* An exception is delivered however the flag is, and comes with the flag 0. */
static void test_flag(void)
{
	interrupt_enable();
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tud2", : "=m"(provoked_eip));
	check(UD, 0, provoked_eip);
	interrupt_disable();
	EXCEPTION_PROVOKE("movl $9f, %0\n9:\tud2", : "=m"(provoked_eip));
	check(UD, 0, provoked_eip);
}

static const struct tap_test tests[] = {
	{ "divide", test_divide },
	{ "divide-overflow", test_divide_overflow },
	{ "single-step", test_single_step },
	{ "int1", test_int1 },
	{ "int3", test_int3 },
	{ "int-3", test_int_3 },
	{ "into", test_into },
	{ "bound", test_bound },
	{ "undefined", test_undefined },
	{ "bad-selector", test_bad_selector },
	{ "null-stack", test_null_stack },
	{ "software-interrupt", test_software_interrupt },
	{ "beyond-its-memory", test_beyond_its_memory },
	{ "x87", test_x87 },
	{ "sse", test_sse },
	{ "stack", test_stack },
	{ "flag", test_flag },
};

static const struct tap_group group = TAP_GROUP(tests);

void main(void)
{
	handlers_install();
	tap_run("exceptions", &group, 1);
}
