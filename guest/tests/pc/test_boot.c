/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guest finds at its start: Linux's 32-bit boot protocol, and its
 * descriptor tables as it loads them.
 */
#include <string.h>

#include "machine.h"
#include "suite.h"

/* Offsets in struct boot_params (Linux: Documentation/x86/zero-page.rst). */
#define E820_ENTRIES 0x1e8
#define BOOT_FLAG 0x1fe
#define HEADER 0x202
#define E820_TABLE 0x2d0
#define E820_SIZE 20
#define E820_RAM 1

static uint32_t word(uint32_t offset)
{
	uint32_t value;

	memcpy(&value, (const void *)(boot_parameters + offset), sizeof(value));
	return value;
}

static void test_entry_state(void)
{
	uint16_t cs, ds, es, ss;

	SKIP_NATIVE("a multiboot loader has other selectors");
	__asm__("movw %%cs, %0; movw %%ds, %1; movw %%es, %2; movw %%ss, %3"
		: "=r"(cs), "=r"(ds), "=r"(es), "=r"(ss));
	expect_equal(cs & ~3U, BOOT_CODE);
	expect_equal(ds & ~3U, BOOT_DATA);
	expect_equal(es & ~3U, BOOT_DATA);
	expect_equal(ss & ~3U, BOOT_DATA);
	expect_equal(cr0_read() & (CR0_PE | CR0_PG), CR0_PE);
	expect(!irq_enabled());
}

static void test_boot_parameters(void)
{
	SKIP_NATIVE("a multiboot loader has none");
	expect_equal(word(HEADER), 0x53726448); /* "HdrS" */
	expect_equal(word(BOOT_FLAG) & 0xffff, 0xaa55);
}

/* Linux needs memory below 1 MiB, and says where it is itself. */
static void test_memory_map(void)
{
	uint32_t low = 0, high = 0;

	SKIP_NATIVE("a multiboot loader has another memory map");
	for (uint32_t i = 0; i < (word(E820_ENTRIES) & 0xff); i++) {
		uint32_t entry = E820_TABLE + i * E820_SIZE;
		uint32_t start = word(entry), size = word(entry + 8);

		expect_equal(word(entry + 4), 0);
		expect_equal(word(entry + 12), 0);
		if (word(entry + 16) == E820_RAM && start < 0x100000)
			low += size;
		else if (word(entry + 16) == E820_RAM)
			high += size;
	}
	expect(low >= 0x80000 && low <= 0x100000);
	expect_equal(high + 0x100000, SHARED_PAGE->memory_size);
}

static void test_command_line(void)
{
	static const char added[] = "tsc_early_khz=";
	const char *line;

	SKIP_NATIVE("a multiboot loader passes it elsewhere");
	for (line = (const char *)word(BOOT_COMMAND_LINE); *line; line++)
		if (!memcmp(line, added, sizeof(added) - 1))
			break;
	expect_equal(*line, 't');
}

static void test_shared_page(void)
{
	SKIP_NATIVE("there is none");
	expect_equal(SHARED_PAGE->abi_version, GANDALF_ABI_VERSION);
	expect(SHARED_PAGE->tsc_khz > 1000);
	expect_equal(SHARED_ALIAS->abi_version, GANDALF_ABI_VERSION);
	expect_equal(SHARED_ALIAS->memory_size, SHARED_PAGE->memory_size);
}

static const struct tap_test boot_tests[] = {
	{ "boot-entry-state", test_entry_state },
	{ "boot-parameters", test_boot_parameters },
	{ "boot-memory-map", test_memory_map },
	{ "boot-command-line", test_command_line },
	{ "boot-shared-page", test_shared_page },
};
const struct tap_group group_boot = TAP_GROUP(boot_tests);

static void test_lgdt(void)
{
	uint16_t cs, ss, ds;

	gdt_load();
	segments_load();
	__asm__("movw %%cs, %0; movw %%ss, %1; movw %%ds, %2" : "=r"(cs), "=r"(ss), "=r"(ds));
	expect_equal(cs & ~3U, KERNEL_CODE);
	expect_equal(ss & ~3U, KERNEL_DATA);
	expect_equal(ds, USER_DATA);
}

static void test_lidt(void)
{
	idt_load();
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_BP);
}

static void test_ltr(void)
{
	gdt[TASK_STATE / 8] = (struct descriptor){ 0 };
	task_load();
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
}

static void test_lldt(void)
{
	const uint16_t none = 0;

	__asm__ volatile("lldt %w0\n\tlldt %1" : : "r"(0), "m"(none) : "memory");
	TRAP_PROVOKE("movl %0, %%fs", : : "r"(0x0f)); /* entry 1 of no table */
	expect_equal(trap.count, 1);
	expect_equal(trap.vector, VECTOR_GP);
	expect_equal(trap.error, 0x0c);
}

/* The operand in every form of address. */
static void test_lgdt_operands(void)
{
	struct {
		uint32_t space[2];
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) table = { { 0 }, sizeof(gdt) - 1, (uint32_t)gdt };
	uint32_t address = (uint32_t)&table;

	__asm__ volatile("lgdt 8(%0)\n\tlgdt (%0,%1)\n\tlgdt 4(%0,%2,4)\n\tlgdt %%ds:8(%0)\n\t"
			 "lgdt -0x1000(,%3)"
			 :
			 : "r"(address), "r"(8), "r"(1), "r"(address + 0x1008)
			 : "memory");
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
}

static const struct tap_test tables_tests[] = {
	{ "tables-lgdt", test_lgdt },
	{ "tables-lidt", test_lidt },
	{ "tables-ltr", test_ltr },
	{ "tables-lldt", test_lldt },
	{ "tables-lgdt-operands", test_lgdt_operands },
};
const struct tap_group group_tables = TAP_GROUP(tables_tests);
