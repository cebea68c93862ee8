/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables: no more is flushed, forgotten, rebuilt or counted than was asked for, and no
 * less; and what is told of a page is what the guest's tables say.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "guests/x86/shadow/shadow_mapped.h"

static void a_flush_ends_exactly_where_it_was_asked_to(void **state)
{
	static const struct {
		u32 first, end; /* pages */
	} ranges[] = {
		{3, 4}, {3, 11}, {3, 12}, {0, 32}, {1, 32}, {1, 33}, {31, 64}, {32, 64}, {40, 50},
		{63, 97}, {1000, 1024}, {1000, 1030}, {1023, 1056}, {1024, 1060}, {0, 1100},
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(ranges); i++) {
		u32 low = i % 3 * 0x7ff;

		pages_fill(0, 1200);
		shadow_flush(&x86, x86.cr3, (ranges[i].first << 12) + low, ranges[i].end << 12);
		for (u32 page = 0; page < 1200; page++)
			assert_int_equal(is_shadowed(page << 12),
					 page < ranges[i].first || page >= ranges[i].end);
		for (u32 page = ranges[i].first; page < ranges[i].end; page++)
			assert_null(tlb_find(page << 12));
	}
	check_isolation();
	guest_end();
}

static void an_empty_range_flushes_nothing(void **state)
{
	(void)state;
	pages_fill(0, 8);
	shadow_flush(&x86, x86.cr3, 0x5800, 0x5800);
	shadow_flush(&x86, x86.cr3, 0x6000, 0x5000);
	shadow_flush(&x86, x86.cr3, 0xfffff000, 0x1000);
	assert_true(is_shadowed(0x5000));
	assert_true(is_shadowed(0));
	assert_non_null(tlb_find(0x7000));
	assert_int_equal(vcpu.counters[COUNTER_flushes], 3);
	assert_int_equal(vcpu.counters[COUNTER_flush_misses], 0);
}

/* Eight pages are invalidated one by one, of more all is forgotten that is not global. */
static void a_short_flush_leaves_the_rest_of_the_tlb(void **state)
{
	(void)state;
	for (u32 pages = 1; pages <= 9; pages++) {
		pages_fill(0, 12);
		assert_int_equal(access_memory(FAR_PAGE, PF_U), SHADOW_FILLED);
		assert_int_equal(access_memory(KERNEL_PAGE, 0), SHADOW_FILLED);
		tlb_fetch(FAR_PAGE, 1);
		tlb_fetch(KERNEL_PAGE, 2);
		tlb_fetch(0x1000, 3);
		tlb_fetch(pages << 12, 4);
		shadow_flush(&x86, x86.cr3, 0x1000, (pages + 1) << 12);
		assert_int_equal(tlb_find(FAR_PAGE) != NULL, pages <= 8);
		assert_null(tlb_find(0x1000));
		assert_null(tlb_find(pages << 12));
		assert_non_null(tlb_find(KERNEL_PAGE));
	}
}

/* The kernel names bytes, of which the first may be the last of its page. */
static void a_flush_takes_the_pages_of_its_first_and_last_byte(void **state)
{
	static const u32 lengths[] = {2, 0x8002, 0x20002};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
		u32 end = 0x5fff + lengths[i];

		pages_fill(0, 48);
		shadow_flush(&x86, x86.cr3, 0x5fff, end);
		for (u32 page = 0; page < 48; page++)
			assert_int_equal(is_shadowed(page << 12), page < 5 || page > end >> 12);
	}
}

static void a_flush_of_another_space_leaves_the_tlb(void **state)
{
	static const u32 ends[] = {0x2000, 0x40000, 0x2000000};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
		cr3_load(directories[1]);
		pages_fill(0, 4);
		cr3_load(directories[0]);
		pages_fill(0, 4);
		tlb_fetch(0x1000, 1);
		shadow_flush(&x86, directories[1], 0x1000, ends[i]);
		assert_non_null(tlb_find(0x1000));
		assert_true(is_shadowed(0x1000));
		cr3_load(directories[1]);
		assert_false(is_shadowed(0x1000));
		assert_int_equal(is_shadowed(0), ends[i] != 0x2000000);
	}
}

/* More than 16 MiB, or to behind the half of the processes, is all of the space. */
static void a_long_flush_drops_the_space(void **state)
{
	static const struct {
		u32 start, end;
		bool all;
	} ranges[] = {
		{0x100000, 0x1100000, false}, {0x100000, 0x1100001, true},
		{SHADOW_KERNEL - 0x1000, SHADOW_KERNEL, false},
		{SHADOW_KERNEL - 0x1000, SHADOW_KERNEL + 1, true},
		{0, 0xffffffff, true}, {0xffff0000, 0xffffffff, true},
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(ranges); i++) {
		assert_int_equal(access_memory(FAR_PAGE, PF_U), SHADOW_FILLED);
		tlb_fetch(FAR_PAGE, 1);
		shadow_flush(&x86, x86.cr3, ranges[i].start, ranges[i].end);
		assert_int_equal(is_shadowed(FAR_PAGE), !ranges[i].all);
		assert_true(is_shadowed(KERNEL_PAGE));
		if (ranges[i].all)
			assert_null(tlb_find(FAR_PAGE));
	}
}

static void a_flush_within_a_large_page_drops_all_of_it(void **state)
{
	static const u32 ends[] = {0x1000, 0x40000, 0x400000, 0x401000};

	(void)state;
	entry_set(pde_address(0, 1), READY | PTE_U | PTE_PS);
	for (u32 i = 0; i < ARRAY_SIZE(ends); i++) {
		assert_int_equal(access_memory(0x400000, PF_U), SHADOW_FILLED);
		pages_fill(0x800, 0x802);
		shadow_flush(&x86, x86.cr3, 0x400000, 0x400000 + ends[i]);
		assert_false(is_shadowed(0x400000));
		assert_false(is_shadowed(0x7ff000));
		assert_int_equal(is_shadowed(0x800000), ends[i] <= 0x400000);
		assert_true(is_shadowed(0x801000));
	}
	check_isolation();
	guest_end();
}

static void an_invalidation_is_of_one_page(void **state)
{
	u32 count = vcpu.counters[COUNTER_invalidations];

	(void)state;
	pages_fill(0, 4);
	for (u32 page = 0; page < 4; page++)
		tlb_fetch(page << 12, page + 1);
	tlb_fetch(KERNEL_PAGE, 5);
	tlb_fetch(0xff800000, 6);
	tlb_fetch(GANDALF_BASE, 7);
	shadow_invalidate(&x86, 0x2123);
	for (u32 page = 0; page < 4; page++) {
		assert_int_equal(is_shadowed(page << 12), page != 2);
		assert_int_equal(tlb_find(page << 12) != NULL, page != 2);
	}
	/* A page of the kernel is there again at once. */
	shadow_invalidate(&x86, KERNEL_PAGE);
	assert_null(tlb_find(KERNEL_PAGE));
	assert_true(is_shadowed(KERNEL_PAGE));
	assert_non_null(tlb_find(0x3000));
	/* The VMM's are none of the guest's business. */
	shadow_invalidate(&x86, 0xff800000);
	shadow_invalidate(&x86, GANDALF_BASE);
	assert_non_null(tlb_find(0xff800000));
	assert_non_null(tlb_find(GANDALF_BASE));
	assert_int_equal(vcpu.counters[COUNTER_invalidations] - count, 4);
}

/* The processor forgets what is global only where that was asked for or has to be. */
static void new_pages_leave_the_tlb(void **state)
{
	(void)state;
	entry_set(pde_address(0, 4), READY | PTE_U | PTE_PS);
	pages_fill(0, 2);
	tlb_fetch(0x1000, 1);
	tlb_fetch(KERNEL_PAGE, 2);
	assert_int_equal(access_memory(0x800000, PF_U), SHADOW_FILLED);
	assert_int_equal(access_memory(0x1000000, PF_U), SHADOW_FILLED);
	assert_non_null(tlb_find(0x1000));
	assert_non_null(tlb_find(KERNEL_PAGE));
	cr3_load(directories[1]);
	assert_null(tlb_find(0x1000));
	assert_non_null(tlb_find(KERNEL_PAGE));
	shadow_flush_all(&x86);
	assert_null(tlb_find(KERNEL_PAGE));
}

/* Of a host without global pages, too. */
static void everything_is_forgotten_where_that_is_asked_for(void **state)
{
	(void)state;
	processor.cr4 = CR4_PSE;
	pages_fill(0, 2);
	tlb_fetch(0x1000, 1);
	tlb_fetch(KERNEL_PAGE, 2);
	shadow_flush_all(&x86);
	assert_false(is_shadowed(0x1000));
	assert_null(tlb_find(0x1000));
	assert_null(tlb_find(KERNEL_PAGE));
	assert_int_equal(processor.cr4, CR4_PSE);
	processor.cr4 = CR4_PSE | CR4_PGE;
	shadow_flush_all(&x86);
	assert_int_equal(processor.cr4, CR4_PSE | CR4_PGE);
}

/* The kernel's half, which is the same for all, is rebuilt only where the guest's own TLB would
 * have forgotten a part of it. */
static void the_kernel_s_half_is_rebuilt_if_it_has_to_be(void **state)
{
	u32 before = rebuilds();

	(void)state;
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(rebuilds(), before);
	/* A page that is not global. */
	entry_set(KERNEL_TABLE + 7 * 4, 0x7000 | READY);
	shadow_invalidate(&x86, 0xc0007000);
	cr3_load(directories[1]);
	assert_int_equal(rebuilds(), before + 1);
	cr3_load(directories[0]);
	assert_int_equal(rebuilds(), before + 2);
	entry_set(KERNEL_TABLE + 7 * 4, 0x7000 | READY | PTE_G);
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(rebuilds(), before + 3);
	/* No page is, without CR4.PGE. */
	x86.cr4 = CR4_PSE;
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(rebuilds(), before + 5);
	assert_int_equal(vcpu.counters[COUNTER_cr3_loads], 9);
}

static void paging_that_comes_back_finds_the_kernel_as_it_is_now(void **state)
{
	bool global;

	(void)state;
	cr0_load(CR0_PE);
	entry_set(KERNEL_TABLE + 5 * 4, 0x8000 | READY | PTE_G);
	cr0_load(CR0_PE | CR0_PG);
	assert_int_equal(shadow_walk(processor.cr3, KERNEL_PAGE, &global).frame,
			 GUEST_BASE + 0x8000);
	assert_true(global);
}

static void nothing_is_left_of_a_guest_that_starts_again(void **state)
{
	(void)state;
	shadow_protect(&x86, 0x5000);
	pages_fill(0, 2);
	x86.shadow.protected_page = KERNEL_PAGE;
	shadow_destroy(&vcpu);
	assert_null(x86.shadow.current);
	/* Whatever was there before its first start, too. */
	x86.shadow.current = (struct space *)&shared;
	shadow_reset(&x86);
	assert_null(x86.shadow.guest_directory);
	assert_int_equal(x86.shadow.protected_frame, SHADOW_NO_FRAME);
	assert_int_equal(x86.shadow.protected_page, 0);
	assert_false(x86.shadow.caching);
	assert_null(x86.shadow.current);
	assert_int_equal(vcpu.cr3, x86.shadow.identity);
}

/* The guest's handlers run at the points: none of them may store the short way by then. */
static void a_new_protection_ends_the_short_way_at_once(void **state)
{
	(void)state;
	pages_fill(0, 2);
	x86.shadow.protected_page = KERNEL_PAGE;
	x86.point = upcall_point;
	shadow_protect(&x86, 0x5000);
	assert_true(points_seen > 0);
	assert_int_equal(points_with_short_way, 0);
	/* The same again is no work. */
	points_seen = 0;
	shadow_protect(&x86, 0x5000);
	assert_int_equal(points_seen, 0);
}

/* Only the idle vCPU lets others run: a guest that works has its own time. */
static void the_idle_vcpu_admits_while_it_frees(void **state)
{
	(void)state;
	pages_fill(0, 2);
	asked.admissions = 0;
	cr3_load(x86.cr3);
	assert_false(is_shadowed(0x1000));
	assert_int_equal(asked.admissions, 0);
	pages_fill(0, 2);
	core.current = &idle_vcpu;
	cr3_load(x86.cr3);
	assert_int_equal(asked.admissions, 1);
	/* One group of a space, the space, and the groups of the two directories. */
	pages_fill(0, 2);
	asked.admissions = 0;
	shadow_destroy(&vcpu);
	assert_int_equal(asked.admissions, 2 + (BASE_DIRECTORY + 7) / 8);
}

/* What a directory or a table has to be zeroed for later. */
static void frames_are_marked_where_they_are_used(void **state)
{
	u32 table;

	(void)state;
	assert_int_equal(*pool_marks(x86.shadow.current->directory), 0xff000000);
	assert_int_equal(access_memory(0x41000, PF_U), SHADOW_FILLED);
	table = *physical_word(x86.shadow.current->directory) & PTE_FRAME;
	assert_int_equal(*pool_marks(table), 1u << 0x41 / 32);
	cr3_load(directories[1]);
	for (u32 i = 0; i < ARRAY_SIZE(x86.shadow.current->used_groups); i++)
		assert_int_equal(x86.shadow.current->used_groups[i], 0);
	/* A place that another space had before. */
	cr0_load(CR0_PE);
	x86.cr3 = directories[2];
	cr0_load(CR0_PE | CR0_PG);
	for (u32 i = 0; i < ARRAY_SIZE(x86.shadow.current->used_groups); i++)
		assert_int_equal(x86.shadow.current->used_groups[i], 0);
}

/* Of those that have frames, the one that was loaded longest ago. */
static void the_oldest_space_is_evicted(void **state)
{
	u32 hits;

	(void)state;
	for (u32 i = 0; i < 4; i++)
		cr3_load(directories[i]);
	cr3_load(directories[0]);
	while (pool_available != 0)
		assert_int_not_equal(pool_allocate(), 0);
	assert_int_equal(access_memory(0x1000, PF_U), SHADOW_FILLED);
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 1);
	hits = vcpu.counters[COUNTER_space_hits];
	cr3_load(directories[2]);
	cr3_load(directories[3]);
	cr3_load(directories[0]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], hits + 3);
	cr3_load(directories[1]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], hits + 3);
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 2);
}

static void translations_are_those_of_the_guest_s_tables(void **state)
{
	u32 frame = 0;

	(void)state;
	entry_set(USER_TABLE + 6 * 4, 0);
	entry_set(USER_TABLE + 7 * 4, 0x70003000 | READY);
	entry_set(pde_address(0, 1), 0);
	entry_set(pde_address(0, 2), GUEST_SIZE | PTE_P);
	entry_set(pde_address(0, 3), 0x00400000 | PTE_P | PTE_PS);
	assert_true(shadow_translate(&x86, 0x5123, &frame));
	assert_int_equal(frame, 0x5000);
	assert_true(shadow_translate(&x86, 0x7000, &frame));
	assert_int_equal(frame, 0x70003000);
	assert_true(shadow_translate(&x86, 0xc03fffff, &frame));
	assert_int_equal(frame, 0x3ff000);
	assert_true(shadow_translate(&x86, 0xc0412345, &frame));
	assert_int_equal(frame, 0x12000);
	assert_true(shadow_translate(&x86, 0xc12345, &frame));
	assert_int_equal(frame, 0x412000);
	assert_false(shadow_translate(&x86, 0x6000, &frame));
	assert_false(shadow_translate(&x86, 0x400000, &frame));
	assert_false(shadow_translate(&x86, 0x800000, &frame));
	/* The bit of a large page means a table, without CR4.PSE: here one of zeroes. */
	x86.cr4 = CR4_PGE;
	assert_false(shadow_translate(&x86, 0xc12345, &frame));
	x86.cr3 = GUEST_SIZE;
	assert_false(shadow_translate(&x86, 0x5123, &frame));
	x86.cr3 = directories[0];
	cr0_load(CR0_PE);
	assert_false(shadow_translate(&x86, 0x5123, &frame));
}

static void the_vmm_s_own_faults_are_filled_as_the_guest_s(void **state)
{
	(void)state;
	entry_set(USER_TABLE + 6 * 4, 0);
	entry_set(pde_address(0, BASE_DIRECTORY), USER_TABLE | PTE_P | PTE_W | PTE_U);
	assert_true(shadow_fill_for_vmm(&vcpu, 0x5123, 0));
	assert_true(is_shadowed(0x5000));
	assert_true(is_shadowed(0x4000)); /* with what is near it */
	assert_false(shadow_fill_for_vmm(&vcpu, 0x6000, 0));
	assert_true(shadow_fill_for_vmm(&vcpu, KERNEL_PAGE, 0));
	assert_false(shadow_fill_for_vmm(&vcpu, GANDALF_BASE, 0));
	/* Nor are the guest's tables asked for the VMM's pages. */
	assert_int_equal(*guest_word(pde_address(0, BASE_DIRECTORY)) & PTE_A, 0);
	shadow_invalidate(&x86, 0x7000);
	vmm_stores(0x7000);
	assert_true(shadow_is_writable(&vcpu, 0x7000));
}

/* What comes with a fault has the rights that the guest gave it, and is the guest's. */
static void neighbours_of_a_fault_have_their_own_rights(void **state)
{
	static const u32 rights[] = {PTE_U | PTE_W | PTE_D, PTE_U | PTE_W, PTE_U | PTE_D,
				     PTE_W | PTE_D, 0};
	bool global;

	(void)state;
	shadow_protect(&x86, 0x5000);
	for (u32 i = 0; i < ARRAY_SIZE(rights); i++)
		entry_set(USER_TABLE + i * 4, i << 12 | PTE_P | PTE_A | rights[i]);
	entry_set(USER_TABLE + 6 * 4, GUEST_SIZE | READY | PTE_U);
	entry_set(USER_TABLE + 7 * 4, (GUEST_SIZE - PAGE_SIZE) | READY | PTE_U);
	assert_int_equal(access_memory(0x8000, PF_U), SHADOW_FILLED);
	for (u32 i = 0; i < ARRAY_SIZE(rights); i++) {
		struct rights there = shadow_walk(processor.cr3, i << 12, &global);

		assert_true(there.present);
		assert_int_equal(there.user, (rights[i] & PTE_U) != 0);
		assert_int_equal(there.writable, (rights[i] & PTE_W) && (rights[i] & PTE_D));
	}
	assert_true(is_shadowed(0x5000));
	assert_false(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_false(is_shadowed(0x6000));
	assert_true(shadow_walk(processor.cr3, 0x7000, &global).writable);
	/* The first page of the kernel comes alone, as all of its pages do. */
	entry_set(KERNEL_TABLE, 0);
	entry_set(KERNEL_TABLE + 4, 0);
	shadow_invalidate(&x86, 0xc0000000);
	shadow_invalidate(&x86, 0xc0001000);
	entry_set(KERNEL_TABLE, READY | PTE_G);
	entry_set(KERNEL_TABLE + 4, READY | PTE_G);
	assert_int_equal(access_memory(0xc0000000, 0), SHADOW_FILLED);
	assert_true(shadow_walk(processor.cr3, 0xc0000000, &global).present && global);
	assert_false(is_shadowed(0xc0001000));
}

/* Whatever the other bits of its base are, the page behind is not the APIC's. */
static void the_local_apic_is_one_page(void **state)
{
	(void)state;
	x86.shadow.apic = 0x70000000;
	entry_set(USER_TABLE + 5 * 4, 0x70000000 | READY | PTE_U);
	entry_set(USER_TABLE + 6 * 4, 0x70001000 | READY | PTE_U);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_APIC);
	assert_int_equal(access_memory(0x6000, PF_W), SHADOW_OUTSIDE);
}

/* The guest gives more rights to a part of a large page, which needs no flush. */
static void a_large_page_gives_way_to_a_table(void **state)
{
	bool global;

	(void)state;
	entry_set(pde_address(0, 1), PTE_P | PTE_A | PTE_U | PTE_PS);
	assert_int_equal(access_memory(0x405000, PF_U), SHADOW_FILLED);
	entry_set(pde_address(0, 1), USER_TABLE | PTE_P | PTE_W | PTE_U);
	assert_int_equal(access_memory(0x405000, PF_U | PF_W), SHADOW_FILLED);
	assert_true(shadow_walk(processor.cr3, 0x405000, &global).writable);
	assert_false(is_shadowed(0x500000));
	check_isolation();
	guest_end();
}

/* One page is invalidated, and all 4 MiB around it are what the guest's tables say now. */
static void a_changed_directory_entry_of_the_kernel_is_rebuilt_as_a_whole(void **state)
{
	bool global;

	(void)state;
	entry_set(pde_address(0, 0x301), 0x400000 | READY | PTE_PS | PTE_G);
	shadow_invalidate(&x86, 0xc0512345);
	assert_int_equal(shadow_walk(processor.cr3, 0xc0401000, &global).frame,
			 GUEST_BASE + 0x401000);
	entry_set(pde_address(0, 0x301), KERNEL_TABLE | PTE_P | PTE_W);
	shadow_invalidate(&x86, 0xc0512345);
	for (u32 page = 0; page < 1024; page++)
		assert_int_equal(shadow_walk(processor.cr3, 0xc0400000 + (page << 12),
					     &global).frame, GUEST_BASE + (page << 12));
	check_isolation();
	guest_end();
}

/* What is empty or one large page is one step of long work, a table 32. */
static void a_flush_of_little_is_little_work(void **state)
{
	(void)state;
	x86.point = upcall_point;
	shadow_flush(&x86, x86.cr3, 0, 0x1000000);
	assert_int_equal(points_seen, 4);
	points_seen = 0;
	pages_fill(0x400, 0x401);
	shadow_flush(&x86, x86.cr3, 0, 0x1000000);
	assert_int_equal(points_seen, 3 + 32);
}

static const struct gandalf_trace_event *last_event(void)
{
	return &vcpu.trace->events[(vcpu.trace->next - 1) % GANDALF_TRACE_EVENTS];
}

static void faults_and_loads_are_counted(void **state)
{
	(void)state;
	assert_int_equal(vcpu.counters[COUNTER_space_misses], 1);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 0);
	assert_int_equal(access_memory(0x1000, PF_U), SHADOW_FILLED);
	assert_int_equal(vcpu.counters[COUNTER_shadow_fills], 1);
	/* The page's neighbours came with it: 16 pages, of which one was asked for. */
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], 15);
	for (u32 page = 0; page < 18; page++)
		assert_int_equal(is_shadowed(page << 12), page < 16);
	cr3_load(directories[1]);
	assert_int_equal(vcpu.counters[COUNTER_space_misses], 2);
	assert_int_equal(last_event()->type, TRACE_cr3);
	assert_int_equal(last_event()->first, directories[1]);
	assert_int_equal(last_event()->second, 0);
	cr3_load(directories[0]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 1);
	assert_int_equal(last_event()->second, 1);
	assert_true(is_shadowed(0x1000));
}

#define TEST(name) cmocka_unit_test_setup(name, mapped_start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_flush_ends_exactly_where_it_was_asked_to),
		TEST(an_empty_range_flushes_nothing),
		TEST(a_short_flush_leaves_the_rest_of_the_tlb),
		TEST(a_flush_takes_the_pages_of_its_first_and_last_byte),
		TEST(a_flush_of_another_space_leaves_the_tlb),
		TEST(a_long_flush_drops_the_space),
		TEST(a_flush_within_a_large_page_drops_all_of_it),
		TEST(an_invalidation_is_of_one_page),
		TEST(new_pages_leave_the_tlb),
		TEST(everything_is_forgotten_where_that_is_asked_for),
		TEST(the_kernel_s_half_is_rebuilt_if_it_has_to_be),
		TEST(paging_that_comes_back_finds_the_kernel_as_it_is_now),
		TEST(nothing_is_left_of_a_guest_that_starts_again),
		TEST(a_new_protection_ends_the_short_way_at_once),
		TEST(the_idle_vcpu_admits_while_it_frees),
		TEST(frames_are_marked_where_they_are_used),
		TEST(the_oldest_space_is_evicted),
		TEST(translations_are_those_of_the_guest_s_tables),
		TEST(the_vmm_s_own_faults_are_filled_as_the_guest_s),
		TEST(neighbours_of_a_fault_have_their_own_rights),
		TEST(the_local_apic_is_one_page),
		TEST(a_large_page_gives_way_to_a_table),
		TEST(a_changed_directory_entry_of_the_kernel_is_rebuilt_as_a_whole),
		TEST(a_flush_of_little_is_little_work),
		TEST(faults_and_loads_are_counted),
	};

	return RUN_TESTS(tests);
}
