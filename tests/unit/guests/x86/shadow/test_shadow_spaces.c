/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables: which spaces there are and what is dropped of them, what the guest's memory
 * ends with, and what the kernel's half, which all spaces share, becomes when it changes.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "guests/x86/shadow/shadow_mapped.h"

/* Spaces */

/* A process that is not running keeps no right to store there, either. */
static void a_page_is_protected_in_every_space(void **state)
{
	bool global;

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		cr3_load(directories[i]);
		assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_FILLED);
		assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	}
	cr3_load(directories[1]);
	shadow_protect(&x86, 0x5000);
	for (u32 i = 0; i < 4; i++) {
		cr3_load(directories[i]);
		assert_false(shadow_walk(processor.cr3, 0x5000, &global).writable);
		assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_PROTECTED);
	}
	check_isolation();
	guest_end();
}

/* Otherwise there were fewer and fewer, and processes lost their page tables early. */
static void paging_that_was_off_has_all_spaces_again(void **state)
{
	(void)state;
	for (u32 times = 0; times < 3; times++) {
		for (u32 i = 0; i < 4; i++)
			cr3_load(directories[i]);
		assert_int_equal(x86.shadow.space_limit, 4);
		cr0_load(CR0_PE);
		assert_int_equal(x86.shadow.space_limit, 0);
		x86.cr3 = directories[0];
		cr0_load(CR0_PE | CR0_PG);
		assert_int_equal(x86.shadow.space_limit, 1);
	}
	check_isolation();
	guest_end();
}

/* The short way stores without looking at the guest's tables: it must be the page of the last
 * look. */
static void a_new_page_of_the_kernel_ends_the_short_way(void **state)
{
	(void)state;
	entry_set(KERNEL_TABLE + 7 * 4, 0);
	shadow_invalidate(&x86, 0xc0007000);
	entry_set(KERNEL_TABLE + 7 * 4, 0x7000 | READY | PTE_G);
	x86.shadow.protected_page = KERNEL_PAGE;
	assert_int_equal(access_memory(0xc0007000, 0), SHADOW_FILLED);
	assert_int_equal(x86.shadow.protected_page, 0);
	/* Pages of a process are none of its business, not even those that are filled seldom. */
	entry_set(USER_TABLE + 7 * 4, GUEST_SIZE | READY | PTE_U);
	x86.shadow.protected_page = KERNEL_PAGE;
	assert_int_equal(access_memory(0x7000, PF_U), SHADOW_FILLED);
	assert_int_equal(x86.shadow.protected_page, KERNEL_PAGE);
}


static void load_another(void)
{
	cr3_load(directories[1]);
}

/* The look through the kernel's half may not have come to the pages that are not global: a handler
 * that loads CR3 meanwhile has to find none of what the load before has made stale. */
static void a_load_amid_a_rebuild_rebuilds_too(void **state)
{
	u32 before = rebuilds();

	(void)state;
	x86.point = upcall_point;
	at_first_point = load_another;
	shadow_flush_all(&x86);
	assert_int_equal(rebuilds(), before + 2);
	/* And none behind it. */
	cr3_load(directories[0]);
	assert_int_equal(rebuilds(), before + 2);
}

/* Pages of every part of the directory, a table for each of the groups that are dropped
 * together. */
static void a_dropped_space_has_no_page_left_anywhere(void **state)
{
	(void)state;
	for (u32 slot = 0; slot < KERNEL_DIRECTORY; slot += 8) {
		entry_set(pde_address(0, slot + slot / 8 % 8), USER_TABLE | PTE_P | PTE_W | PTE_U);
		assert_int_equal(access_memory((slot + slot / 8 % 8) << 22, PF_U), SHADOW_FILLED);
		if (slot % 128 != 120)
			continue;
		cr3_load(x86.cr3);
		for (u32 i = 0; i < KERNEL_DIRECTORY; i++)
			assert_int_equal(*physical_word(x86.shadow.current->directory + i * 4), 0);
		check_isolation();
	}
	guest_end();
}

/* A handler of the guest's own waits for eight tables, not for all of them. */
static void a_space_is_dropped_in_steps(void **state)
{
	(void)state;
	for (u32 slot = 0; slot < 5 * 8; slot += 8) {
		entry_set(pde_address(0, slot), USER_TABLE | PTE_P | PTE_W | PTE_U);
		assert_int_equal(access_memory(slot << 22, PF_U), SHADOW_FILLED);
	}
	x86.point = upcall_point;
	shadow_flush(&x86, x86.cr3, 0, SHADOW_KERNEL);
	assert_int_equal(points_seen, 5);
}

/* One step leads to a space, however many there are, if their directories lie on other pages. */
static void directories_have_chains_of_their_own(void **state)
{
	u32 chains = 0;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		cr3_load(directories[i]);
	for (u32 i = 0; i < SHADOW_HASH; i++)
		chains += x86.shadow.hash[i] != 0;
	assert_int_equal(chains, ARRAY_SIZE(directories));
}

/* The first is one like the others: it could not be evicted for ever otherwise. */
static void the_first_space_is_evicted_when_it_is_the_oldest(void **state)
{
	u32 misses;

	(void)state;
	for (u32 i = 0; i < 4; i++)
		cr3_load(directories[i]);
	while (pool_available != 0)
		assert_int_not_equal(pool_allocate(), 0);
	assert_int_equal(access_memory(0x1000, PF_U), SHADOW_FILLED);
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 1);
	assert_int_equal(space_of(0)->directory, 0);
	misses = vcpu.counters[COUNTER_space_misses];
	for (u32 i = 1; i < 4; i++)
		cr3_load(directories[i]);
	assert_int_equal(vcpu.counters[COUNTER_space_misses], misses);
}

/* Where no space has ever been may be anything: what changes all spaces ends before. */
static void changes_end_with_the_last_space(void **state)
{
	struct space *behind;
	u32 table;

	(void)state;
	cr3_load(directories[1]);
	table = pool_allocate();
	behind = space_of(2);
	behind->directory = pool_allocate();
	behind->used_groups[0] = 1;
	*physical_word(behind->directory) = table | PTE_P;
	entry_set(pde_address(1, 0x302), READY | PTE_PS | PTE_G);
	assert_int_equal(access_memory(0xc0800000, 0), SHADOW_FILLED);
	assert_int_equal(*physical_word(behind->directory + 0x302 * 4), 0);
	shadow_protect(&x86, 0x5000);
	assert_int_equal(*physical_word(behind->directory), table | PTE_P);
	assert_int_equal(behind->used_groups[0], 1);
}

/* The guest's memory and tables */

/* What lies behind the guest's memory is another guest's: it is no page table of this one. */
static void tables_end_with_the_guest_s_memory(void **state)
{
	u32 frame;

	(void)state;
	/* A directory and a table there, which map everything. */
	for (u32 i = 0; i < 1024; i++)
		*physical_word(GUEST_BASE + GUEST_SIZE + i * 4) =
			i % 2 ? USER_TABLE | READY | PTE_U : READY | PTE_U | PTE_PS;
	for (u32 slot = 8; slot <= 0x308; slot += 0x300)
		entry_set(pde_address(0, slot), GUEST_SIZE | PTE_P | PTE_W | PTE_U);
	for (u32 i = 0; i < 2; i++) {
		assert_false(shadow_translate(&x86, 0x2000000 + (i << 12), &frame));
		assert_int_equal(access_memory(0x2000000 + (i << 12), 0), SHADOW_FAULT);
		shadow_invalidate(&x86, 0xc2000000 + (i << 12));
		assert_false(is_shadowed(0xc2000000 + (i << 12)));
	}
	cr3_load(GUEST_SIZE);
	for (u32 i = 0; i < 2; i++) {
		assert_false(shadow_translate(&x86, i << 22, &frame));
		assert_int_equal(access_memory(i << 22, 0), SHADOW_FAULT);
	}
	shadow_flush_all(&x86);
	for (u32 i = KERNEL_DIRECTORY; i < BASE_DIRECTORY; i++)
		assert_int_equal(*physical_word(x86.shadow.current->directory + i * 4), 0);
}

/* The guest's directory is looked for once, and again when its window shows another frame: a fault
 * would be filled from a page table as if it were the directory. */
static void the_directory_is_found_again_behind_its_window(void **state)
{
	/* Its frame's window is that of the directory's. */
	const u32 table = directories[0] + 1024 * PAGE_SIZE;

	(void)state;
	assert_int_equal(access_memory(0x1000, PF_U), SHADOW_FILLED);
	assert_int_equal(*x86.shadow.guest_window, x86.shadow.guest_window_entry);
	for (u32 i = 0; i < 1024; i++)
		entry_set(table + i * 4, 0x3000 | READY | PTE_U);
	entry_set(pde_address(0, 1), table | PTE_P | PTE_W | PTE_U);
	assert_int_equal(access_memory(0x400000, PF_U), SHADOW_FILLED);
	assert_int_not_equal(*x86.shadow.guest_window, x86.shadow.guest_window_entry);
	pages_fill(0x800, 0x801);
	assert_int_equal(*x86.shadow.guest_window, x86.shadow.guest_window_entry);
	check_isolation();
	guest_end();
}

/* Linux ages and writes back what it finds accessed and dirty. */
static void accesses_are_noted_in_the_guest_s_tables(void **state)
{
	bool global;

	(void)state;
	entry_set(pde_address(0, 2), PTE_P | PTE_W | PTE_U | PTE_PS);
	entry_set(pde_address(0, 1), USER_TABLE | PTE_P | PTE_W | PTE_U);
	assert_int_equal(access_memory(0x401000, PF_U), SHADOW_FILLED);
	assert_int_equal(*guest_word(pde_address(0, 1)) & PTE_A, PTE_A);
	/* A large page is dirty when it is written, and not before. */
	assert_int_equal(access_memory(0x801000, PF_U), SHADOW_FILLED);
	assert_int_equal(*guest_word(pde_address(0, 2)) & (PTE_A | PTE_D), PTE_A);
	assert_false(shadow_walk(processor.cr3, 0x801000, &global).writable);
	assert_int_equal(access_memory(0x801000, PF_U | PF_W), SHADOW_FILLED);
	assert_int_equal(*guest_word(pde_address(0, 2)) & (PTE_A | PTE_D), PTE_A | PTE_D);
	assert_true(shadow_walk(processor.cr3, 0x801000, &global).writable);
}

static void the_first_page_can_be_written_where_none_is_protected(void **state)
{
	(void)state;
	assert_int_equal(access_memory(0, PF_U | PF_W), SHADOW_FILLED);
	entry_set(KERNEL_TABLE, PTE_P | PTE_W | PTE_G);
	shadow_invalidate(&x86, SHADOW_KERNEL);
	assert_int_equal(access_memory(SHADOW_KERNEL, PF_W), SHADOW_FILLED);
	vmm_stores(SHADOW_KERNEL);
}

static void the_protected_page_is_the_guest_s(void **state)
{
	(void)state;
	shadow_protect(&x86, 0x5000);
	memcpy(shadow_protected_page(&x86.shadow), "here", 4);
	assert_memory_equal(guest_word(0x5000), "here", 4);
}

/* A process must not keep 4 MiB of which its kernel has left it some pages. */
static void a_large_page_goes_even_if_no_table_can_be_made(void **state)
{
	u32 error = PF_U | PF_W;

	(void)state;
	entry_set(pde_address(0, 1), READY | PTE_U | PTE_PS);
	assert_int_equal(access_memory(0x405000, PF_U), SHADOW_FILLED);
	while (pool_available != 0)
		assert_int_not_equal(pool_allocate(), 0);
	entry_set(pde_address(0, 1), USER_TABLE | PTE_P | PTE_W | PTE_U);
	assert_int_equal(shadow_fill(&x86, 0x405000, &error), SHADOW_FULL);
	assert_false(is_shadowed(0x500000));
}

/* Out of the emulation of an instruction no fault makes the processor forget the page. */
static void the_processor_forgets_a_large_page_with_the_shadow(void **state)
{
	u32 error = 0;

	(void)state;
	entry_set(pde_address(0, 1), READY | PTE_U | PTE_PS);
	assert_int_equal(access_memory(0x405000, PF_U), SHADOW_FILLED);
	tlb_fetch(0x405000, 1);
	entry_set(pde_address(0, 1), USER_TABLE | PTE_P | PTE_W | PTE_U);
	assert_int_equal(shadow_fill(&x86, 0x409000, &error), SHADOW_FILLED);
	assert_null(tlb_find(0x405000));
	check_isolation();
	guest_end();
}

/* The kernel's half */

/* Without it the next interrupt finds no stack, and the VMM no way to give it one. */
static void the_kernel_s_tables_do_not_wait_for_a_clean_frame(void **state)
{
	u32 entry = *guest_word(pde_address(0, KERNEL_DIRECTORY));
	u32 frame;

	(void)state;
	entry_set(pde_address(0, KERNEL_DIRECTORY), 0);
	shadow_flush_all(&x86);
	frame = pool_allocate();
	memset(pool_pointer(frame), 0xff, PAGE_SIZE);
	*pool_marks(frame) = ~0u;
	pool_free(frame);
	policy_set(&x86, &fake_dedicated);
	entry_set(pde_address(0, KERNEL_DIRECTORY), entry);
	shadow_invalidate(&x86, KERNEL_PAGE);
	assert_true(is_shadowed(KERNEL_PAGE));
	check_isolation();
	guest_end();
}

/* A load of CR3 leaves global pages and takes the others, the kernel's first large one, too. */
static void a_large_page_of_the_kernel_is_as_global_as_the_guest_s(void **state)
{
	u32 before;
	bool global;

	(void)state;
	for (u32 i = 0; i < 2; i++)
		entry_set(pde_address(i, KERNEL_DIRECTORY), READY | PTE_PS | PTE_G);
	shadow_flush_all(&x86);
	assert_true(shadow_walk(processor.cr3, KERNEL_PAGE, &global).present && global);
	before = rebuilds();
	cr3_load(directories[1]);
	assert_int_equal(rebuilds(), before);
	for (u32 i = 0; i < 2; i++)
		entry_set(pde_address(i, KERNEL_DIRECTORY), READY | PTE_PS);
	shadow_flush_all(&x86);
	assert_true(shadow_walk(processor.cr3, KERNEL_PAGE, &global).present && !global);
	before = rebuilds();
	cr3_load(directories[0]);
	assert_int_equal(rebuilds(), before + 1);
}

static void a_large_page_of_the_kernel_that_is_absent_is_no_page(void **state)
{
	(void)state;
	assert_true(is_shadowed(0xc0400000));
	entry_set(pde_address(0, 0x301), (READY & ~PTE_P) | PTE_PS | PTE_G);
	shadow_flush_all(&x86);
	assert_false(is_shadowed(0xc0400000));
	assert_int_equal(access_memory(0xc0400000, 0), SHADOW_FAULT);
}

static void a_new_large_page_of_the_kernel_ends_the_short_way(void **state)
{
	(void)state;
	entry_set(pde_address(0, 0x302), READY | PTE_PS | PTE_G);
	x86.shadow.protected_page = KERNEL_PAGE;
	assert_int_equal(access_memory(0xc0800000, 0), SHADOW_FILLED);
	assert_int_equal(x86.shadow.protected_page, 0);
}

/* Where the shadow has changed, the processor must not have what was there before. */
static void what_is_rebuilt_is_forgotten_by_the_processor(void **state)
{
	(void)state;
	entry_set(KERNEL_TABLE + 7 * 4, 0x7000 | READY);
	shadow_invalidate(&x86, 0xc0007000);
	tlb_fetch(KERNEL_PAGE, 1);
	entry_set(KERNEL_TABLE + 5 * 4, 0x8000 | READY | PTE_G);
	cr3_load(directories[1]);
	assert_int_equal(tlb_walk(KERNEL_PAGE).frame, GUEST_BASE + 0x8000);
	/* Without paging nothing is what it was, global or not. */
	tlb_fetch(KERNEL_PAGE, 1);
	cr0_load(CR0_PE);
	assert_null(tlb_find(KERNEL_PAGE));
}

/* A guest that is not a multiple of those steps large has the same bound. */
static void a_reset_admits_for_a_part_of_a_step_too(void **state)
{
	(void)state;
	x86.shadow.memory_size = 9u << 22;
	asked.admissions = 0;
	shadow_reset(&x86);
	assert_int_equal(asked.admissions, 2);
}

#define TEST(name) cmocka_unit_test_setup(name, mapped_start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_page_is_protected_in_every_space),
		TEST(paging_that_was_off_has_all_spaces_again),
		TEST(a_new_page_of_the_kernel_ends_the_short_way),
		TEST(a_load_amid_a_rebuild_rebuilds_too),
		TEST(a_dropped_space_has_no_page_left_anywhere),
		TEST(a_space_is_dropped_in_steps),
		TEST(directories_have_chains_of_their_own),
		TEST(the_first_space_is_evicted_when_it_is_the_oldest),
		TEST(changes_end_with_the_last_space),
		TEST(tables_end_with_the_guest_s_memory),
		TEST(the_directory_is_found_again_behind_its_window),
		TEST(accesses_are_noted_in_the_guest_s_tables),
		TEST(the_first_page_can_be_written_where_none_is_protected),
		TEST(the_protected_page_is_the_guest_s),
		TEST(a_large_page_goes_even_if_no_table_can_be_made),
		TEST(the_processor_forgets_a_large_page_with_the_shadow),
		TEST(the_kernel_s_tables_do_not_wait_for_a_clean_frame),
		TEST(a_large_page_of_the_kernel_is_as_global_as_the_guest_s),
		TEST(a_large_page_of_the_kernel_that_is_absent_is_no_page),
		TEST(a_new_large_page_of_the_kernel_ends_the_short_way),
		TEST(what_is_rebuilt_is_forgotten_by_the_processor),
		TEST(a_reset_admits_for_a_part_of_a_step_too),
	};

	return RUN_TESTS(tests);
}
