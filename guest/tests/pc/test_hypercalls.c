/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypercalls of a Linux guest.
 */
#include "machine.h"
#include "suite.h"

#define TLS_ENTRIES 3
/* Of DR7: the first breakpoint, at loads and stores of four bytes. */
#define DR7_NONE 0x400U
#define DR7_READ_WRITE_0 0xf0401U
#define DR6_HIT_0 0x1U

static const uint32_t words[TLS_ENTRIES] = { 0x1001, 0x2002, 0x3003 };

static void test_null(void)
{
	SKIP_NATIVE("there are none");
	expect_equal(hypercall(GANDALF_HYPERCALL_NULL, 0, 0, 0), 0);
}

static void test_registers(void)
{
	uint32_t b = 0x22222222, c = 0x33333333, d = 0x44444444;
	uint32_t si = 0x55555555, di = 0x66666666, result;

	SKIP_NATIVE("there are none");
	__asm__ volatile("int %6\n\t"
			 : "=a"(result), "+b"(b), "+c"(c), "+d"(d), "+S"(si), "+D"(di)
			 : "i"(GANDALF_HYPERCALL_VECTOR), "a"(GANDALF_HYPERCALL_NULL)
			 : "memory");
	expect_equal(result, 0);
	expect_equal(b, 0x22222222);
	expect_equal(c, 0x33333333);
	expect_equal(d, 0x44444444);
	expect_equal(si, 0x55555555);
	expect_equal(di, 0x66666666);
}

static void test_flush_arguments(void)
{
	SKIP_NATIVE("there are none");
	/* All, one page, an empty range, one that does not exist, no directory. */
	expect_equal(hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, 0, 0xffffffff),
		     0);
	expect_equal(hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, SCRATCH,
			       SCRATCH + PAGE_SIZE), 0);
	expect_equal(hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, 8, 8), 0);
	expect_equal(hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)page_directory, 0xfffff000, 0),
		     0);
	expect_equal(hypercall(GANDALF_HYPERCALL_FLUSH, 0xfffff000, 0, 0xffffffff), 0);
	expect_equal(hypercall(GANDALF_HYPERCALL_FLUSH, 0x123, 1, 0xfffffffe), 0);
}

static uint32_t read_gs(uint32_t index)
{
	uint32_t value = 0;

	TRAP_PROVOKE("movl %1, %%gs\n\tmovl %%gs:0, %0",
		     : "=&r"(value) : "r"((TLS_FIRST + index) * 8 + 3));
	__asm__ volatile("movl %0, %%gs" : : "r"(0));
	return value;
}

static void test_load_tls(void)
{
	struct descriptor entries[TLS_ENTRIES];

	SKIP_NATIVE("there are none");
	for (uint32_t i = 0; i < TLS_ENTRIES; i++)
		entries[i] = descriptor_make((uint32_t)&words[i], 0xfffff, DESCRIPTOR_DATA(3),
					     DESCRIPTOR_PAGES);
	expect_equal(hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)entries, 0, 0), 0);
	for (uint32_t i = 0; i < TLS_ENTRIES; i++) {
		expect_equal(gdt[TLS_FIRST + i].low, entries[i].low);
		expect_equal(gdt[TLS_FIRST + i].high, entries[i].high);
		expect_equal(read_gs(i), words[i]);
		expect_equal(trap.count, 0);
	}
	for (uint32_t i = 0; i < TLS_ENTRIES; i++)
		entries[i] = (struct descriptor){ 0 };
	expect_equal(hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)entries, 0, 0), 0);
	read_gs(0);
	expect_equal(trap.count, 1);
}

/* Descriptors that would open the VMM's memory or its rings. */
static void test_load_tls_checked(void)
{
	static const uint8_t types[] = { 0x82, 0x89, 0x8c, 0x8e, 0xec, 0x9a, 0xfa };
	struct descriptor entries[TLS_ENTRIES] = { 0 };

	SKIP_NATIVE("there are none");
	for (uint32_t i = 0; i < sizeof(types); i++) {
		entries[0] = descriptor_make(0xfc400000, 0xfffff, types[i], DESCRIPTOR_PAGES);
		expect_equal(hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)entries, 0, 0), 0);
		TRAP_PROVOKE("lcall %0, $0", : : "i"(TLS_FIRST * 8));
		expect_equal(trap.count, 1);
	}
	entries[0] = (struct descriptor){ 0 };
	hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)entries, 0, 0);
}

/* A breakpoint on what the VMM reads for the kernel: it is read, and DR6 tells; there is no
 * exception, since the access was none of the kernel's. */
static void test_breakpoint(void)
{
	static const struct descriptor none[TLS_ENTRIES];

	SKIP_NATIVE("there are none");
	dr6_write(0);
	dr0_write((uint32_t)&none[1]);
	dr7_write(DR7_READ_WRITE_0);
	trap.count = 0;
	expect_equal(hypercall(GANDALF_HYPERCALL_LOAD_TLS, (uint32_t)none, 0, 0), 0);
	dr7_write(DR7_NONE);
	expect_equal(trap.count, 0);
	expect_equal(dr6_read() & DR6_HIT_0, DR6_HIT_0);
}

static const struct tap_test hypercalls_tests[] = {
	{ "hypercalls-null", test_null },
	{ "hypercalls-registers", test_registers },
	{ "hypercalls-flush-arguments", test_flush_arguments },
	{ "hypercalls-load-tls", test_load_tls },
	{ "hypercalls-load-tls-checked", test_load_tls_checked },
	{ "hypercalls-breakpoint", test_breakpoint },
};
const struct tap_group group_hypercalls = TAP_GROUP(hypercalls_tests);
