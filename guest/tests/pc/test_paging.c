/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page tables: what the VMM's shadow of them must show, and when. test_spaces.c is about several.
 */
#include <string.h>

#include "emulator.h"
#include "machine.h"
#include "paging.h"
#include "suite.h"

static volatile uint32_t *frame_word(uint32_t frame)
{
	return (uint32_t *)scratch_frame[frame];
}

static uint32_t entry(uint32_t index)
{
	return *(volatile uint32_t *)&scratch_table[index];
}

static uint32_t directory_entry(uint32_t address)
{
	return *(volatile uint32_t *)&page_directory[address / LARGE_PAGE_SIZE];
}

static void test_enable(void)
{
	paging_enable();
	expect_equal(cr0_read() & (CR0_PG | CR0_WP), CR0_PG | CR0_WP);
	expect_equal(cr3_read(), (uint32_t)page_directory);
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
	if (environment != NATIVE)
		expect_equal(SHARED_PAGE->abi_version, GANDALF_ABI_VERSION);
}

static void test_disable(void)
{
	cr0_write(cr0_read() & ~CR0_PG);
	expect_equal(cr0_read() & CR0_PG, 0);
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
	cr0_write(cr0_read() | CR0_PG);
	expect_equal(cr0_read() & CR0_PG, CR0_PG);
}

static void test_map(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[1], READ_WRITE);
	expect_equal(*page, 0x1001);
	*page = 0x55aa55aa;
	expect_equal(*frame_word(1), 0x55aa55aa);
	*frame_word(1) = 0x1234;
	expect_equal(*page, 0x1234);
}

static void test_absent(void)
{
	scratch_begin();
	page_try_read(page);
	fault_check(page, 0);
	page_try_write(page, 1);
	fault_check(page, FAULT_WRITE);
	page_try_read((uint32_t *)0x60000000); /* no table there */
	fault_check((void *)0x60000000, 0);
	/* An absent entry needs no invalidation when it comes. */
	scratch_map(0, scratch_frame[0], READ_WRITE);
	expect_equal(page_try_read(page), 0x1000);
	expect_equal(trap.count, 0);
}

static void test_write_protected(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[0], PAGE_P);
	expect_equal(page_try_read(page), 0x1000);
	page_try_write(page, 1);
	fault_check(page, FAULT_WRITE | FAULT_PRESENT);
	expect_equal(*frame_word(0), 0x1000);
	/* Nor does one that is allowed more. */
	scratch_map(0, scratch_frame[0], READ_WRITE);
	page_try_write(page, 2);
	expect_equal(trap.count, 0);
	expect_equal(*frame_word(0), 2);
}

static void test_protected_directory(void)
{
	const uint32_t index = SCRATCH / LARGE_PAGE_SIZE;

	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	*(volatile uint32_t *)&page_directory[index] &= ~PAGE_W;
	cr3_write((uint32_t)page_directory);
	page_try_write(page, 1);
	fault_check(page, FAULT_WRITE | FAULT_PRESENT);
	*(volatile uint32_t *)&page_directory[index] |= PAGE_W;
	cr3_write((uint32_t)page_directory);
	page_try_write(page, 1);
	expect_equal(trap.count, 0);
}

static void test_accessed_dirty(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	expect_equal(entry(0) & (PAGE_A | PAGE_D), 0);
	expect_equal(*page, 0x1000);
	expect_equal(entry(0) & (PAGE_A | PAGE_D), PAGE_A);
	expect_equal(directory_entry(SCRATCH) & PAGE_A, PAGE_A);
	*page = 1;
	expect_equal(entry(0) & (PAGE_A | PAGE_D), PAGE_A | PAGE_D);
	scratch_map(1, scratch_frame[1], READ_WRITE);
	*next = 1;
	expect_equal(entry(1) & (PAGE_A | PAGE_D), PAGE_A | PAGE_D);
}

/* As the kernel's page ageing and write-back do it. */
static void test_accessed_dirty_cleared(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	*page = 1;
	scratch_map(0, scratch_frame[0], READ_WRITE);
	invlpg(SCRATCH);
	expect_equal(*page, 1);
	expect_equal(entry(0) & (PAGE_A | PAGE_D), PAGE_A);
	*page = 2;
	expect_equal(entry(0) & (PAGE_A | PAGE_D), PAGE_A | PAGE_D);
	scratch_map(0, scratch_frame[0], READ_WRITE);
	pages_flush(page_directory, SCRATCH, SCRATCH + PAGE_SIZE);
	invlpg(SCRATCH);
	*page = 3;
	expect_equal(entry(0) & (PAGE_A | PAGE_D), PAGE_A | PAGE_D);
}

static void test_invlpg(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	expect_equal(*page, 0x1000);
	scratch_map(0, scratch_frame[1], READ_WRITE);
	invlpg(SCRATCH);
	expect_equal(*page, 0x1001);
	scratch_map(0, scratch_frame[1], PAGE_P);
	invlpg(SCRATCH + 0x123); /* any address in the page */
	page_try_write(page, 1);
	fault_check(page, FAULT_WRITE | FAULT_PRESENT);
	scratch_map(0, NULL, 0);
	__asm__ volatile("invlpg (%0,%1,4)" : : "r"(SCRATCH - 16), "r"(4) : "memory");
	page_try_read(page);
	fault_check(page, 0);
}

static void test_reload(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	scratch_map(1, scratch_frame[1], READ_WRITE);
	expect_equal(*page, 0x1000);
	expect_equal(*next, 0x1001);
	scratch_map(0, scratch_frame[2], READ_WRITE);
	scratch_map(1, NULL, 0);
	cr3_write(cr3_read());
	expect_equal(*page, 0x1002);
	page_try_read(next);
	fault_check(next, 0);
}

static void test_global(void)
{
	scratch_begin();
	cr4_write(cr4_read() | CR4_PGE);
	scratch_map(0, scratch_frame[0], READ_WRITE | PAGE_G);
	expect_equal(*page, 0x1000);
	scratch_map(0, scratch_frame[1], READ_WRITE | PAGE_G);
	cr4_write(cr4_read() & ~CR4_PGE); /* invalidates global pages as well */
	expect_equal(*page, 0x1001);
	scratch_map(0, scratch_frame[2], READ_WRITE | PAGE_G);
	cr4_write(cr4_read() | CR4_PGE);
	expect_equal(*page, 0x1002);
	scratch_map(0, scratch_frame[3], READ_WRITE | PAGE_G);
	invlpg(SCRATCH);
	expect_equal(*page, 0x1003);
	cr4_write(cr4_read() & ~CR4_PGE);
}

static void test_large(void)
{
	const uint32_t index = SCRATCH_LARGE / LARGE_PAGE_SIZE;
	volatile uint32_t *const entries = page_directory;
	/* The second large page of memory; the tests use none of it. */
	volatile uint32_t *const memory = (uint32_t *)(2 * LARGE_PAGE_SIZE);
	volatile uint32_t *const window = (uint32_t *)SCRATCH_LARGE;
	const uint32_t last = LARGE_PAGE_SIZE / 4 - 1;

	scratch_begin();
	memory[0] = 11;
	memory[last] = 12;
	entries[index] = (uint32_t)memory | READ_WRITE | PAGE_PS;
	expect_equal(window[0], 11);
	expect_equal(entries[index] & (PAGE_A | PAGE_D), PAGE_A);
	expect_equal(window[last], 12);
	window[last] = 13;
	expect_equal(memory[last], 13);
	expect_equal(entries[index] & (PAGE_A | PAGE_D), PAGE_A | PAGE_D);
	entries[index] &= ~(PAGE_W | PAGE_A | PAGE_D);
	invlpg(SCRATCH_LARGE);
	page_try_write(&window[5], 1);
	fault_check(&window[5], FAULT_WRITE | FAULT_PRESENT);
	entries[index] = 0;
	cr3_write(cr3_read());
	page_try_read(window);
	fault_check(window, 0);
}

/* A large page is split into small ones, as Linux does with its own. */
static void test_large_to_small(void)
{
	const uint32_t index = SCRATCH_LARGE / LARGE_PAGE_SIZE;
	volatile uint32_t *const entries = page_directory;
	volatile uint32_t *const window = (uint32_t *)SCRATCH_LARGE;

	scratch_begin();
	*(volatile uint32_t *)(2 * LARGE_PAGE_SIZE) = 21;
	entries[index] = 2 * LARGE_PAGE_SIZE | READ_WRITE | PAGE_PS;
	expect_equal(*window, 21);
	scratch_map(0, scratch_frame[3], READ_WRITE);
	entries[index] = (uint32_t)scratch_table | READ_WRITE;
	cr3_write(cr3_read());
	expect_equal(*window, 0x1003);
	entries[index] = 0;
	cr3_write(cr3_read());
}

static void test_spanning(void)
{
	volatile uint32_t *const both = (uint32_t *)(SCRATCH + PAGE_SIZE - 2);

	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	page_try_read(both);
	fault_check(next, 0);
	scratch_map(1, scratch_frame[1], READ_WRITE);
	*both = 0x44332211;
	expect_equal(*(volatile uint16_t *)(scratch_frame[0] + PAGE_SIZE - 2), 0x2211);
	expect_equal(*(volatile uint16_t *)scratch_frame[1], 0x4433);
}

static void test_execute(void)
{
	static const uint8_t first[] = { 0xb8, 1, 0, 0, 0, 0xc3 };  /* mov $1, %eax; ret */
	static const uint8_t second[] = { 0xb8, 2, 0, 0, 0, 0xc3 };
	uint32_t (*const code)(void) = (uint32_t (*)(void))SCRATCH;

	scratch_begin();
	memcpy(scratch_frame[0], first, sizeof(first));
	memcpy(scratch_frame[1], second, sizeof(second));
	scratch_map(0, scratch_frame[0], READ_WRITE);
	expect_equal(code(), 1);
	scratch_map(0, scratch_frame[1], READ_WRITE);
	invlpg(SCRATCH);
	expect_equal(code(), 2);
}

/* An emulated instruction that lies half in one page and half in the next. */
static void test_execute_spanning(void)
{
	/* mov %cr0, %eax; ret */
	static const uint8_t code[] = { 0x0f, 0x20, 0xc0, 0xc3 };
	uint32_t (*const run)(void) = (uint32_t (*)(void))(SCRATCH + PAGE_SIZE - 2);

	scratch_begin();
	memcpy(scratch_frame[0] + PAGE_SIZE - 2, code, 2);
	memcpy(scratch_frame[2], code + 2, 2);
	scratch_map(0, scratch_frame[0], READ_WRITE);
	scratch_map(1, scratch_frame[2], READ_WRITE);
	expect_equal(run(), cr0_read());
}

/* Emulation must find its memory operand where the guest's tables have it. */
static void test_operand(void)
{
	scratch_begin();
	scratch_map(0, scratch_frame[0], READ_WRITE);
	scratch_map(1, scratch_frame[2], READ_WRITE);
	*(volatile uint16_t *)(SCRATCH + PAGE_SIZE - 2) = GDT_ENTRIES * 8 - 1;
	*(volatile uint32_t *)(SCRATCH + PAGE_SIZE) = (uint32_t)gdt;
	__asm__ volatile("lgdt (%0)" : : "r"(SCRATCH + PAGE_SIZE - 2) : "memory");
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
	TRAP_PROVOKE("lgdt (%0)", : : "r"(SCRATCH + 2 * PAGE_SIZE) : "memory");
	fault_check((void *)(SCRATCH + 2 * PAGE_SIZE), 0);
}

/* The tables are ordinary memory for the guest, mapped like the rest. */
static void test_table_through_window(void)
{
	volatile uint32_t *const window = (uint32_t *)(SCRATCH + 2 * PAGE_SIZE);

	scratch_begin();
	scratch_map(2, scratch_table, READ_WRITE);
	scratch_map(0, scratch_frame[0], READ_WRITE);
	expect_equal(*page, 0x1000);
	window[0] = (uint32_t)scratch_frame[3] | READ_WRITE;
	invlpg(SCRATCH);
	expect_equal(*page, 0x1003);
	expect_equal(window[0] & (PAGE_A | PAGE_D), PAGE_A);
}

/* Entries of the guest where the VMM is have no effect (Linux has some). */
static void test_above_base(void)
{
	volatile uint32_t *const entries = page_directory;

	SKIP_NATIVE("there is no VMM");
	scratch_begin();
	for (uint32_t i = GANDALF_BASE / LARGE_PAGE_SIZE; i < 1024; i++)
		entries[i] = READ_WRITE | PAGE_PS;
	cr3_write(cr3_read());
	expect_equal(SHARED_PAGE->abi_version, GANDALF_ABI_VERSION);
	SHARED_PAGE->interrupt_flag = 0;
	TRAP_PROVOKE("int3");
	expect_equal(trap.count, 1);
	for (uint32_t i = GANDALF_BASE / LARGE_PAGE_SIZE; i < 1024; i++)
		entries[i] = 0;
	cr3_write(cr3_read());
}

/* The VMM's image and what lies above it. Under QEMU, which does not enforce
 * limits, pages protect it against writing. */
#define VMM_IMAGE 0xfc400000U
#define VMM_STEP 0x10000U

static void test_vmm_write(void)
{
	SKIP_NATIVE("there is no VMM");
	for (uint32_t address = VMM_IMAGE; address >= VMM_IMAGE; address += VMM_STEP) {
		page_try_write((volatile uint32_t *)address, 0x21646162);
		expect_equal(trap.count, 1);
		expect(trap.vector == VECTOR_PF || trap.vector == VECTOR_GP);
	}
}

static void test_vmm_beyond_limit(void)
{
	SKIP_NATIVE("there is no VMM");
	if (emulator_is_qemu()) {
		tap_skip("QEMU does not enforce segment limits");
		return;
	}
	for (uint32_t address = GANDALF_SHARED_ALIAS + PAGE_SIZE; address > GANDALF_BASE;
	     address += VMM_STEP) {
		page_try_write((volatile uint32_t *)address, 0x21646162);
		expect_equal(trap.count, 1);
		expect_equal(trap.vector, VECTOR_GP);
		page_try_read((volatile uint32_t *)address);
		expect_equal(trap.count, 1);
		expect_equal(trap.vector, VECTOR_GP);
	}
}

static const struct tap_test paging_tests[] = {
	{ "paging-enable", test_enable },
	{ "paging-disable", test_disable },
	{ "paging-map", test_map },
	{ "paging-absent", test_absent },
	{ "paging-write-protected", test_write_protected },
	{ "paging-protected-directory", test_protected_directory },
	{ "paging-accessed-dirty", test_accessed_dirty },
	{ "paging-accessed-dirty-cleared", test_accessed_dirty_cleared },
	{ "paging-invlpg", test_invlpg },
	{ "paging-reload", test_reload },
	{ "paging-global", test_global },
	{ "paging-large", test_large },
	{ "paging-large-to-small", test_large_to_small },
	{ "paging-spanning", test_spanning },
	{ "paging-execute", test_execute },
	{ "paging-execute-spanning", test_execute_spanning },
	{ "paging-operand", test_operand },
	{ "paging-table-through-window", test_table_through_window },
	{ "paging-above-base", test_above_base },
	{ "paging-vmm-write", test_vmm_write },
	{ "paging-vmm-beyond-limit", test_vmm_beyond_limit },
};
const struct tap_group group_paging = TAP_GROUP(paging_tests);
