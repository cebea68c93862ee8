/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is filled when a kernel returns to a process whose page fault it has served, and with what
 * rights, where the VMM alone is privileged. tests/boot/test_two_level_views.py has a guest that
 * tries the same from inside.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "guests/x86/shadow/shadow_guest.h"

#define TABLE 0x8000u
#define AWAITED 0x10000u /* begins a group of 16 pages */
#define ALL (PTE_P | PTE_W | PTE_U | PTE_A | PTE_D)
#define FILLED (PTE_P | PTE_U | PTE_A | PTE_D)

struct view_switch view_switch;
struct gandalf_table system_table;

/* Own stand-ins: views_forget_returns() does nothing, since nothing returns here but
 * views_fill_awaited(). */
void views_forget_returns(void)
{
}

/* Returns the guest's entry for a page of the first 4 MiB. */
static u32 entry_address(u32 linear)
{
	return TABLE + (linear >> PAGE_SHIFT) * 4;
}

/* Returns the shadow's entry for such a page. */
static u32 *shadowed(u32 linear)
{
	u32 table = *physical_word(x86.shadow.current->directory) & PTE_FRAME;

	return physical_word(table + (linear >> PAGE_SHIFT) * 4);
}

/* A guest in whose first 4 MiB a process has used the first page only, and whose page AWAITED is
 * not there when it faults: error is the fault's. */
static void process_faults(u32 error)
{
	guest_start(64);
	memset(&view_switch, 0, sizeof(view_switch));
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		directories[i] = 0x100000 + i * 0x80000;
		entry_set(pde_address(i, 0), TABLE | PTE_P | PTE_W | PTE_U | PTE_A);
	}
	entry_set(entry_address(0), ALL);
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
	/* Without it spaces are not kept. */
	shadow_flush(&x86, directories[0], 0, PAGE_SIZE);
	assert_int_equal(access_memory(0, PF_U), SHADOW_FILLED);
	x86.vcpu->view.in_process = 1;
	assert_int_not_equal(x86.vcpu->view.process, 0);
	views_await(&x86, AWAITED + 4, error);
	assert_int_equal(x86.vcpu->view.process, 0);
	x86.vcpu->view.in_process = 0;
}

static void map(u32 linear, u32 frame, u32 rights)
{
	entry_set(entry_address(linear), frame | rights);
}

/* The kernel returns; what was filled is counted. */
static void return_fills(u32 pages)
{
	u32 before = view_switch.fills;

	views_fill_awaited();
	assert_int_equal(view_switch.fills, before + pages);
	assert_int_equal(x86.vcpu->view.awaited, 0);
	assert_int_equal(x86.vcpu->view.process, x86.shadow.current->process);
}

static void filled(u32 linear, u32 frame, u32 rights)
{
	assert_int_equal(*shadowed(linear), (GUEST_BASE + frame) | FILLED | rights);
}

static void rights_are_those_of_both_levels(void **state)
{
	const struct {
		u32 directory, entry, filled;
	} cases[] = {
		{ ALL, ALL, PTE_W },
		{ ALL, ALL & ~PTE_W, 0 },
		{ ALL, ALL & ~PTE_D, 0 }, /* its first store must be seen */
		{ ALL & ~PTE_W, ALL, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		process_faults(PF_U | PF_W);
		map(AWAITED, 0x5000, cases[i].entry);
		entry_set(pde_address(0, 0), TABLE | (cases[i].directory & ~PTE_D));
		return_fills(1);
		filled(AWAITED, 0x5000, cases[i].filled);
		guest_end();
	}
}

static void what_is_not_a_process_s_is_not_filled(void **state)
{
	const struct {
		u32 directory, entry;
	} cases[] = {
		{ ALL, 0 },
		{ ALL, ALL & ~PTE_P },
		{ ALL, ALL & ~PTE_U },
		{ ALL, ALL & ~PTE_A }, /* the kernel is to see that it is used */
		{ ALL & ~PTE_U, ALL },
		{ ALL & ~PTE_P, ALL },
		{ ALL & ~PTE_A, ALL },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		process_faults(PF_U);
		map(AWAITED, 0x5000, cases[i].entry);
		entry_set(pde_address(0, 0), TABLE | (cases[i].directory & ~PTE_D));
		return_fills(0);
		assert_int_equal(*shadowed(AWAITED), 0);
		guest_end();
	}
}

static void memory_of_others_is_not_filled(void **state)
{
	(void)state;
	process_faults(PF_U);
	map(AWAITED, GUEST_SIZE, ALL);
	return_fills(0);
	assert_int_equal(*shadowed(AWAITED), 0);
	guest_end();
	process_faults(PF_U);
	entry_set(pde_address(0, 0), GUEST_SIZE | ALL);
	return_fills(0);
	assert_int_equal(*shadowed(AWAITED), 0);
	guest_end();
}

static void pages_near_a_read_are_filled(void **state)
{
	(void)state;
	process_faults(PF_U);
	map(AWAITED, 0x5000, ALL);
	map(AWAITED + PAGE_SIZE, 0x6000, ALL & ~PTE_U);
	map(AWAITED + 2 * PAGE_SIZE, 0x7000, ALL & ~PTE_W);
	map(AWAITED + 15 * PAGE_SIZE, 0x9000, ALL);
	map(AWAITED + 16 * PAGE_SIZE, 0xa000, ALL);
	map(AWAITED - PAGE_SIZE, 0xb000, ALL);
	return_fills(1);
	filled(AWAITED, 0x5000, PTE_W);
	assert_int_equal(*shadowed(AWAITED + PAGE_SIZE), 0);
	filled(AWAITED + 2 * PAGE_SIZE, 0x7000, 0);
	filled(AWAITED + 15 * PAGE_SIZE, 0x9000, PTE_W);
	assert_int_equal(*shadowed(AWAITED + 16 * PAGE_SIZE), 0);
	assert_int_equal(*shadowed(AWAITED - PAGE_SIZE), 0);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], 2);
	guest_end();
}

/* What the kernel has just made for a store, or changed, has no neighbours that are used soon. */
static void pages_near_others_are_not(void **state)
{
	const u32 errors[] = { PF_U | PF_W, PF_U | PF_P, PF_U | PF_W | PF_P };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(errors); i++) {
		process_faults(errors[i]);
		map(AWAITED, 0x5000, ALL);
		map(AWAITED + PAGE_SIZE, 0x6000, ALL);
		return_fills(1);
		assert_int_equal(*shadowed(AWAITED + PAGE_SIZE), 0);
		guest_end();
	}
}

static void large_pages_are_left_alone(void **state)
{
	u32 before;

	(void)state;
	process_faults(PF_U);
	entry_set(pde_address(0, 0), ALL | PTE_PS);
	return_fills(0);
	assert_int_equal(*shadowed(AWAITED), 0);
	shadow_flush(&x86, directories[0], 0, LARGE_PAGE_SIZE);
	assert_int_equal(access_memory(AWAITED, PF_U | PF_W), SHADOW_FILLED);
	before = *physical_word(x86.shadow.current->directory);
	assert_int_not_equal(before & PTE_PS, 0);
	x86.vcpu->view.in_process = 1;
	views_await(&x86, AWAITED, PF_U);
	entry_set(pde_address(0, 0), TABLE | ALL);
	map(AWAITED, 0x5000, ALL);
	return_fills(0);
	assert_int_equal(*physical_word(x86.shadow.current->directory), before);
	guest_end();
}

/* A page table is not made with interrupts masked. */
static void no_page_table_is_made(void **state)
{
	u32 available;

	(void)state;
	process_faults(PF_U);
	map(AWAITED, 0x5000, ALL);
	shadow_flush(&x86, directories[0], 0, LARGE_PAGE_SIZE);
	entry_set(pde_address(0, 0), 0);
	shadow_flush(&x86, directories[0], 0, LARGE_PAGE_SIZE);
	entry_set(pde_address(0, 0), TABLE | ALL);
	if (*physical_word(x86.shadow.current->directory) != 0)
		space_drop(x86.shadow.current, NULL);
	available = pool_available;
	return_fills(0);
	assert_int_equal(*physical_word(x86.shadow.current->directory), 0);
	assert_int_equal(pool_available, available);
	guest_end();
}

/* The page is another one in another space. */
static void another_space_is_left_alone(void **state)
{
	(void)state;
	process_faults(PF_U);
	map(AWAITED, 0x5000, ALL);
	cr3_load(directories[1]);
	assert_int_equal(access_memory(0, PF_U), SHADOW_FILLED);
	return_fills(0);
	assert_int_equal(*shadowed(AWAITED), 0);
	guest_end();
}

/* Nothing is awaited if a kernel has faulted, or the description has this measure taken away. */
static void what_need_not_be_is_not_awaited(void **state)
{
	(void)state;
	process_faults(PF_U);
	return_fills(0);
	views_await(&x86, AWAITED, PF_U);
	assert_int_equal(x86.vcpu->view.awaited, 0);
	x86.vcpu->view.in_process = 1;
	view_switch.no_prefill = true;
	views_await(&x86, AWAITED, PF_U);
	assert_int_equal(x86.vcpu->view.awaited, 0);
	assert_int_not_equal(x86.vcpu->view.process, 0);
	guest_end();
}

/* The direct way stays closed while there are pages of the kernel alone in the lower part; the
 * other one drops them. */
static void pages_of_the_kernel_alone_are_dropped_first(void **state)
{
	(void)state;
	process_faults(PF_U);
	map(AWAITED, 0x5000, ALL);
	map(AWAITED + PAGE_SIZE, 0x6000, ALL & ~PTE_U);
	assert_int_equal(access_memory(AWAITED + PAGE_SIZE, 0), SHADOW_FILLED);
	views_fill_awaited();
	assert_int_equal(x86.vcpu->view.process, 0);
	x86.vcpu->view.in_process = 1;
	views_await(&x86, AWAITED, PF_U);
	views_show_process(&x86);
	assert_int_equal(x86.vcpu->view.awaited, 0);
	assert_int_equal(x86.vcpu->view.process, x86.shadow.current->process);
	assert_int_equal(processor.cr3, x86.vcpu->view.process);
	assert_int_equal(*physical_word(x86.shadow.current->directory), 0);
	guest_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_are_those_of_both_levels),
		cmocka_unit_test(what_is_not_a_process_s_is_not_filled),
		cmocka_unit_test(memory_of_others_is_not_filled),
		cmocka_unit_test(pages_near_a_read_are_filled),
		cmocka_unit_test(pages_near_others_are_not),
		cmocka_unit_test(large_pages_are_left_alone),
		cmocka_unit_test(no_page_table_is_made),
		cmocka_unit_test(another_space_is_left_alone),
		cmocka_unit_test(what_need_not_be_is_not_awaited),
		cmocka_unit_test(pages_of_the_kernel_alone_are_dropped_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
