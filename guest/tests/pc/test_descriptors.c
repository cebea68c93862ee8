/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's GDT and what the VMM makes of it, with paging on: segment bases
 * and limits, far transfers, TLS entries.
 */
#include "machine.h"
#include "suite.h"

static const uint32_t words[2] = { 0x11223344, 0x55667788 };

static uint32_t read_fs(uint32_t selector, uint32_t offset)
{
	uint32_t value = 0;

	TRAP_PROVOKE("movl %1, %%fs\n\tmovl %%fs:(%2), %0",
		     : "=&r"(value) : "r"(selector), "r"(offset));
	__asm__ volatile("movl %0, %%fs" : : "r"(0));
	return value;
}

static void test_base(void)
{
	gdt[PER_CPU / 8] = descriptor_make((uint32_t)words, 0xfffff, DESCRIPTOR_DATA(0),
					   DESCRIPTOR_PAGES);
	gdt_register_load();
	expect_equal(read_fs(PER_CPU, 0), words[0]);
	expect_equal(read_fs(PER_CPU, 4), words[1]);
	expect_equal(trap.count, 0);
}

static void test_limit(void)
{
	uint32_t limit;

	__asm__("lsl %1, %0" : "=r"(limit) : "r"(KERNEL_DATA));
	expect_equal(limit, environment == NATIVE ? 0xffffffff : GANDALF_SHARED_ALIAS + 0xfff);
	__asm__("lsl %1, %0" : "=r"(limit) : "r"(KERNEL_CODE));
	expect_equal(limit, environment == NATIVE ? 0xffffffff : GANDALF_SHARED_ALIAS + 0xfff);
	__asm__("lsl %1, %0" : "=r"(limit) : "r"(USER_DATA));
	expect_equal(limit, environment == NATIVE ? 0xffffffff : GANDALF_SHARED_ALIAS + 0xfff);
	/* A segment with a base ends at the same address. */
	__asm__("lsl %1, %0" : "=r"(limit) : "r"(PER_CPU));
	if (environment != NATIVE)
		expect(limit + (uint32_t)words <= GANDALF_SHARED_ALIAS + 0xfff);
}

static void test_stack_selector(void)
{
	const uint16_t selector = KERNEL_DATA;
	uint16_t ss;

	__asm__ volatile("movl %0, %%ss" : : "r"(KERNEL_DATA));
	__asm__ volatile("movw %0, %%ss" : : "m"(selector));
	__asm__("movw %%ss, %0" : "=r"(ss));
	expect_equal(ss & ~3U, KERNEL_DATA);
	expect_equal(ss & 3, kernel_ring());
	TRAP_PROVOKE("movl %0, %%ss", : : "r"(KERNEL_CODE));
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
	TRAP_PROVOKE("movl %0, %%ss", : : "r"(0));
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
}

static void test_far_transfers(void)
{
	static uint32_t reached;

	__asm__ volatile("ljmp %1, $1f\n1:\tincl %0\n\t"
			 "lcall %1, $2f\n\tjmp 3f\n2:\tincl %0\n\tlret\n3:\tincl %0"
			 : "+m"(reached)
			 : "i"(KERNEL_CODE)
			 : "memory", "cc");
	expect_equal(reached, 3);
}

static void test_null_selectors(void)
{
	TRAP_PROVOKE("movl %0, %%fs\n\tmovl %0, %%gs", : : "r"(0));
	expect_equal(trap.count, 0);
	TRAP_PROVOKE("movl %0, %%fs\n\tmovl %0, %%gs", : : "r"(3));
	expect_equal(trap.count, 0);
}

/* What native_load_tls() of an unchanged Linux does: plain stores. Before the
 * first LOAD_TLS the VMM has to notice them. */
static void test_tls_store(void)
{
	volatile struct descriptor *entry = &gdt[TLS_FIRST];

	for (uint32_t i = 0; i < 3; i++) {
		struct descriptor wanted = descriptor_make((uint32_t)&words[i % 2], 0xfffff,
							   DESCRIPTOR_DATA(3), DESCRIPTOR_PAGES);

		entry[i].low = wanted.low;
		entry[i].high = wanted.high;
		expect_equal(entry[i].low, wanted.low);
		expect_equal(entry[i].high, wanted.high);
		expect_equal(read_fs((TLS_FIRST + i) * 8 + 3, 0), words[i % 2]);
		expect_equal(trap.count, 0);
	}
	entry[0].low = 0;
	entry[0].high = 0;
	read_fs(TLS_FIRST * 8 + 3, 0);
	expect_equal(trap.count, 1);
	expect(trap.vector == VECTOR_GP || trap.vector == VECTOR_NP);
}

/* The forms that native_load_tls() is compiled to, in the kernel's half; again with what is
 * there. */
#define STORE(first, second)                                                        \
	__asm__ volatile("movl %0, gdt_page + %c1\n\tmovl %2, gdt_page + %c1 + 4"    \
			 : : first(low), "i"(KERNEL_HALF + (TLS_FIRST + 1) * 8), second(high) \
			 : "memory")

static void test_tls_store_forms(void)
{
	struct descriptor wanted = descriptor_make((uint32_t)&words[0], 0xfffff, DESCRIPTOR_DATA(3),
						   DESCRIPTOR_PAGES);

	kernel_half_map();
	for (uint32_t round = 0; round < 4; round++) {
		uint32_t low = round % 2 ? 0 : wanted.low;
		uint32_t high = round % 2 ? 0 : wanted.high;

		for (uint32_t again = 0; again < 2; again++) {
			STORE("S", "d");
			expect_equal(gdt[TLS_FIRST + 1].low, low);
			expect_equal(gdt[TLS_FIRST + 1].high, high);
			STORE("a", "c");
		}
		expect_equal(read_fs((TLS_FIRST + 1) * 8 + 3, 0), round % 2 ? 0 : words[0]);
		expect_equal(trap.count, round % 2);
	}
}

/* Negative offsets, as the C library's TLS uses them, wrap around 4 GiB. */
static void test_tls_flat(void)
{
	volatile struct descriptor *entry = &gdt[TLS_FIRST];
	struct descriptor wanted = descriptor_make((uint32_t)&words[1], 0xfffff,
						   DESCRIPTOR_DATA(3), DESCRIPTOR_PAGES);

	entry[0].low = wanted.low;
	entry[0].high = wanted.high;
	expect_equal(read_fs(TLS_FIRST * 8 + 3, (uint32_t)-4), words[0]);
	expect_equal(trap.count, 0);
}

/* An entry with the DPL or the type of something else must not become a way
 * into the VMM: it is refused when it is loaded, or it is harmless. */
static void test_strange_entries(void)
{
	static const uint8_t types[] = { 0x82, 0x84, 0x85, 0x89, 0x8c, 0x8e, 0x8f, 0xec, 0xee };

	SKIP_NATIVE("a real ring 0 may use them");
	for (uint32_t i = 0; i < sizeof(types); i++) {
		volatile struct descriptor *entry = &gdt[TLS_FIRST];
		struct descriptor wanted = descriptor_make(0xfc400000, 0xfffff, types[i], 0xc);

		entry->low = wanted.low;
		entry->high = wanted.high;
		TRAP_PROVOKE("lcall %0, $0", : : "i"(TLS_FIRST * 8));
		expect_equal(trap.count, 1);
		expect(trap.vector == VECTOR_GP || trap.vector == VECTOR_NP);
		read_fs(TLS_FIRST * 8, 0);
		expect_equal(trap.count, 1);
	}
}

static const struct tap_test descriptors_tests[] = {
	{ "descriptors-base", test_base },
	{ "descriptors-limit", test_limit },
	{ "descriptors-stack-selector", test_stack_selector },
	{ "descriptors-far-transfers", test_far_transfers },
	{ "descriptors-null-selectors", test_null_selectors },
	{ "descriptors-tls-store", test_tls_store },
	{ "descriptors-tls-store-forms", test_tls_store_forms },
	{ "descriptors-tls-flat", test_tls_flat },
	{ "descriptors-strange-entries", test_strange_entries },
};
const struct tap_group group_descriptors = TAP_GROUP(descriptors_tests);
