/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables: the single paths of filling, flushing, protecting and evicting, a test each.
 * test_shadow_random.c has guests that do anything.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "guests/x86/shadow/shadow_guest.h"

static void plain_start(u32 frames)
{
	guest_start(frames);
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		directories[i] = 0x100000 + i * 0x80000;
	for (u32 i = 0; i < 1024; i++)
		entry_set(0x8000 + i * 4, i << 12 | PTE_P | PTE_W | PTE_U | PTE_A | PTE_D);
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		entry_set(pde_address(i, 0), 0x8000 | PTE_P | PTE_W | PTE_U);
		entry_set(pde_address(i, 0x300), PTE_P | PTE_W | PTE_PS | PTE_G);
	}
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
}

static void the_pool_is_too_small_to_create(void **state)
{
	(void)state;
	for (u32 frames = 1; frames < 6; frames++) {
		machine_start(frames);
		assert_int_not_equal(pool_allocate(), 0);
		memset(&x86, 0, sizeof(x86));
		x86.vm = &vm;
		vm.guest = &guest;
		assert_false(shadow_create(&x86));
	}
}

/* Spaces made while paging was off and that hash alike must not be mixed up when
 * the only one in use changes its guest. */
static void paging_off_and_on_keeps_spaces_apart(void **state)
{
	(void)state;
	plain_start(64);
	cr0_load(CR0_PE);
	x86.cr3 = directories[1];
	cr0_load(CR0_PE | CR0_PG);
	cr3_load(directories[0]);
	cr3_load(directories[2]);
	check_isolation();
	assert_int_equal(x86.shadow.current->guest, directories[2]);
	cr3_load(directories[1]);
	assert_int_equal(x86.shadow.current->guest, directories[1]);
	guest_end();
}

/* Nothing is reported before the first flush hypercall: what was shadowed then must
 * not come back after paging was off. */
static void paging_off_forgets_what_nobody_flushed(void **state)
{
	(void)state;
	plain_start(64);
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_FILLED);
	cr0_load(CR0_PE);
	entry_set(pde_address(0, 0), 0);
	x86.cr3 = directories[1];
	cr0_load(CR0_PE | CR0_PG);
	shadow_flush(&x86, directories[1], 0, PAGE_SIZE);
	cr3_load(directories[0]);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FAULT);
	guest_end();
}

/* Without paging there is no protection: ring 3 reads and writes all memory. */
static void ring_3_runs_without_paging(void **state)
{
	(void)state;
	guest_start(64);
	for (u32 linear = 0; linear < GUEST_SIZE + 0x10000; linear += 0x3000)
		for (u32 error = 0; error < 4; error++)
			access_and_check(linear, error << 1);
	check_isolation();
	guest_end();
}

static void the_vmm_is_never_filled(void **state)
{
	(void)state;
	plain_start(64);
	/* As tables, as large pages, and without paging. */
	for (u32 way = 0; way < 3; way++) {
		u32 entry = way == 0 ? 0x8000 | PTE_P | PTE_W | PTE_U
				     : PTE_P | PTE_W | PTE_U | PTE_PS;

		if (way == 2)
			cr0_load(CR0_PE);
		for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
			for (u32 index = BASE_DIRECTORY; index < 1024; index++)
				entry_set(pde_address(i, index), entry);
		for (u32 linear = GANDALF_BASE; linear >= GANDALF_BASE; linear += 0x100000) {
			u32 error = PF_W;

			assert_int_equal(shadow_fill(&x86, linear, &error), SHADOW_FAULT);
			error = 0;
			assert_int_equal(shadow_fill(&x86, linear, &error), SHADOW_FAULT);
			assert_false(shadow_fill_for_vmm(&vcpu, linear, 0));
			shadow_invalidate(&x86, linear);
		}
		check_isolation();
	}
}

/* A large page of the kernel that turns into one that must be split, with no frame
 * left to split it: the old one must not stay. */
static void a_kernel_page_that_cannot_be_split_vanishes(void **state)
{
	(void)state;
	plain_start(64);
	assert_int_equal(access_memory(0xc0001000, PF_W), SHADOW_FILLED);
	while (pool_allocate() != 0)
		continue;
	entry_set(pde_address(0, 0x300), 2u << 22 | PTE_P | PTE_PS | PTE_G);
	shadow_flush_all(&x86);
	assert_int_equal(*physical_word(x86.shadow.current->directory + 0x300 * 4), 0);
	assert_int_equal(access_memory(0xc0001000, PF_W), SHADOW_FAULT);
	assert_int_equal(access_memory(0xc0001000, 0), SHADOW_FULL);
}

/* How often a process faults before it has a page whose table takes a frame that was full. */
static unsigned faults_until_filled(u32 linear)
{
	u32 frame = pool_allocate();
	unsigned faults = 0;
	bool global;

	memset(pool_pointer(frame), 0xff, PAGE_SIZE);
	pool_free(frame);
	while (!shadow_walk(x86.shadow.current->directory, linear, &global).present) {
		u32 error = PF_U;

		assert_int_equal(shadow_fill(&x86, linear, &error), SHADOW_FILLED);
		faults++;
	}
	assert_int_equal(*physical_word(frame + 1023 * 4), 0);
	check_isolation();
	return faults;
}

/* Where no interrupt could be given to Linux meanwhile. */
static void a_frame_is_zeroed_between_faults_of_a_process(void **state)
{
	(void)state;
	plain_start(64);
	entry_set(pde_address(0, 1), 0x8000 | PTE_P | PTE_W | PTE_U);
	entry_set(pde_address(0, 2), 0x8000 | PTE_P | PTE_W | PTE_U);
	assert_int_equal(faults_until_filled(LARGE_PAGE_SIZE), 1);
	policy_set(&x86, &fake_dedicated);
	assert_int_equal(faults_until_filled(2 * LARGE_PAGE_SIZE), 5);
	guest_end();
}

/* A table gives way to a large page out of the emulation of an instruction, with no
 * fault that would make the processor forget the table. */
static void a_table_is_freed_only_when_the_processor_forgets_it(void **state)
{
	u32 error = 0;

	(void)state;
	plain_start(64);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	entry_set(pde_address(0, 0), PTE_P | PTE_W | PTE_U | PTE_PS);
	assert_int_equal(shadow_fill(&x86, 0x9000, &error), SHADOW_FILLED);
	check_isolation();
}

/* More address spaces than a guest can have cached. */
static void all_spaces_in_use_are_evicted_in_turn(void **state)
{
	const u32 limit = SHADOW_SPACES_PER_FRAME * SHADOW_SPACE_FRAMES;

	(void)state;
	plain_start(1023);
	shadow_flush(&x86, 0, 0, 1);
	for (u32 i = 0; i < limit + 50; i++) {
		cr3_load(0x200000 + i * PAGE_SIZE);
		assert_int_equal(x86.shadow.current->guest, 0x200000 + i * PAGE_SIZE);
	}
	check_isolation();
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 51);
	assert_int_equal(x86.shadow.space_limit, limit);
	/* The last are still there, the first are not. */
	cr3_load(0x200000 + 40 * PAGE_SIZE);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 0);
	cr3_load(0x200000 + (limit + 49) * PAGE_SIZE);
	cr3_load(0x200000 + 200 * PAGE_SIZE);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 2);
	guest_end();
}

/* One space, all of whose tables the pool cannot hold. */
static void a_space_larger_than_the_pool_is_refused(void **state)
{
	enum shadow_result result = SHADOW_FILLED;
	u32 linear = 0;

	(void)state;
	plain_start(40);
	for (u32 i = 0; i < KERNEL_DIRECTORY; i++)
		entry_set(pde_address(0, i), 0x8000 | PTE_P | PTE_W | PTE_U);
	while (result == SHADOW_FILLED) {
		result = access_memory(linear, PF_U);
		linear += LARGE_PAGE_SIZE;
	}
	assert_int_equal(result, SHADOW_FULL);
	assert_int_equal(pool_available, 0);
	check_isolation();
	guest_end();
}

static void a_load_without_a_frame_stops_the_guest(void **state)
{
	(void)state;
	guest_start(64);
	while (pool_allocate() != 0)
		continue;
	x86.cr3 = 0x1000;
	cr0_load(CR0_PE | CR0_PG);
	assert_true(asked.stops);
}

static void a_fault_fills_its_neighbours(void **state)
{
	const u32 *table;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 17 * 4, 17u << 12 | PTE_P | PTE_U);
	entry_set(0x8000 + 18 * 4, 0);
	assert_int_equal(access_memory(0x14000, PF_U), SHADOW_FILLED);
	table = (const u32 *)(physical +
			      (*physical_word(x86.shadow.current->directory) & PTE_FRAME));
	for (u32 i = 0; i < 64; i++)
		assert_int_equal(table[i] != 0, i / 16 == 1 && i != 17 && i != 18);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], 13);
}

static void a_page_is_writable_only_after_it_is_dirty(void **state)
{
	u32 prefills;
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 5u << 12 | PTE_P | PTE_W | PTE_U);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	assert_false(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(*guest_word(0x8000 + 5 * 4) & (PTE_A | PTE_D), PTE_A);
	/* Its neighbours were filled with the read; the write looks at none of them. */
	shadow_invalidate(&x86, 0x6000);
	prefills = vcpu.counters[COUNTER_shadow_prefills];
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_FILLED);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], prefills);
	assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(*guest_word(0x8000 + 5 * 4) & (PTE_A | PTE_D), PTE_A | PTE_D);
}

static void a_page_made_for_a_write_comes_alone(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	shared.cr2 = 0x5004;
	assert_int_equal(access_memory(0x5004, PF_U | PF_W), SHADOW_FILLED);
	assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(vcpu.counters[COUNTER_shadow_prefills], 0);
	/* A page that it has not just been told of, or one that it reads, does not. */
	assert_int_equal(access_memory(0x6004, PF_U | PF_W), SHADOW_FILLED);
	assert_int_not_equal(vcpu.counters[COUNTER_shadow_prefills], 0);
	plain_start(64);
	shared.cr2 = 0x5004;
	assert_int_equal(access_memory(0x5004, PF_U), SHADOW_FILLED);
	assert_int_not_equal(vcpu.counters[COUNTER_shadow_prefills], 0);
}

static void the_vmm_writes_where_the_guests_kernel_could(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 5u << 12 | PTE_P | PTE_W);
	entry_set(0x8000 + 6 * 4, 6u << 12 | PTE_P | PTE_U);
	entry_set(0x8000 + 7 * 4, 0x70000000 | PTE_P | PTE_W);
	entry_set(0x8000 + 8 * 4, 0);
	assert_true(shadow_make_writable(&x86, 0x5000));
	assert_true(shadow_walk(processor.cr3, 0x5000, &global).writable);
	assert_int_equal(*guest_word(0x8000 + 5 * 4) & PTE_D, PTE_D);
	assert_true(shadow_make_writable(&x86, 0xc0005000));
	for (u32 linear = 0x6000; linear <= 0x8000; linear += PAGE_SIZE)
		assert_false(shadow_make_writable(&x86, linear));
	shadow_protect(&x86, 0x5000);
	assert_true(shadow_make_writable(&x86, 0x5000));
	assert_false(shadow_walk(processor.cr3, 0x5000, &global).writable);
	cr0_load(CR0_PE);
	assert_true(shadow_make_writable(&x86, GUEST_SIZE - 1));
	assert_false(shadow_make_writable(&x86, GUEST_SIZE));
	check_isolation();
}

static void error_codes_are_those_of_the_guests_tables(void **state)
{
	u32 error = PF_U | PF_W | PF_P;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 0);
	entry_set(0x8000 + 6 * 4, 6u << 12 | PTE_P | PTE_U);
	assert_int_equal(shadow_fill(&x86, 0x5123, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W);
	assert_int_equal(shadow_fill(&x86, 0x6123, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W | PF_P);
	/* What it was for stays, and what the processor adds is not for the guest. */
	error = PF_U | 0x10;
	entry_set(0x8000 + 7 * 4, 7u << 12 | PTE_P);
	assert_int_equal(shadow_fill(&x86, 0x7123, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_P);
	error = PF_W;
	assert_int_equal(shadow_fill(&x86, 0x6123, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_W | PF_P);
	error = PF_U | PF_W;
	assert_int_equal(shadow_fill(&x86, 0x40000000, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W);
	assert_int_equal(shadow_fill(&x86, 0xc0000000, &error), SHADOW_FAULT);
	assert_int_equal(error, PF_U | PF_W | PF_P);
}

static void memory_that_is_missing_reads_as_ones(void **state)
{
	struct rights rights;
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 0x70000000 | PTE_P | PTE_W | PTE_U | PTE_D);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	rights = shadow_walk(processor.cr3, 0x5000, &global);
	assert_false(rights.writable);
	assert_int_equal(*physical_word(rights.frame + 0x7fc), 0xffffffff);
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_OUTSIDE);
}

static void the_local_apic_is_read_where_it_is(void **state)
{
	struct rights rights;
	bool global;
	u32 entry;

	(void)state;
	plain_start(64);
	x86.shadow.apic = 0x70000900;
	entry_set(0x8000 + 5 * 4, 0x70000000 | PTE_P | PTE_W | PTE_U | PTE_D);
	entry_set(0x8000 + 6 * 4, 0x70001000 | PTE_P | PTE_W | PTE_U | PTE_D);
	assert_int_equal(access_memory(0x5000, PF_U), SHADOW_FILLED);
	rights = shadow_walk(processor.cr3, 0x5000, &global);
	assert_false(rights.writable);
	assert_int_equal(rights.frame, 0x70000000);
	entry = ((u32 *)pool_pointer(processor.cr3))[0];
	assert_true(((u32 *)pool_pointer(entry & PTE_FRAME))[5] & PTE_PCD);
	assert_int_equal(access_memory(0x5000, PF_U | PF_W), SHADOW_APIC);
	assert_false(shadow_make_writable(&x86, 0x5000));
	assert_int_equal(access_memory(0x6000, PF_U | PF_W), SHADOW_OUTSIDE);
	assert_int_equal(access_memory(0x6000, 0), SHADOW_FILLED);
	assert_int_equal(shadow_walk(processor.cr3, 0x6000, &global).frame, x86.shadow.nothing);
	x86.shadow.apic = 0;
}

static void a_protected_page_is_read_only_everywhere(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000 + 5 * 4, 0x5000 | PTE_P | PTE_W | PTE_U | PTE_D | PTE_A);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0005000, PF_W), SHADOW_FILLED);
	shadow_protect(&x86, 0x5000);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_PROTECTED);
	assert_int_equal(access_memory(0x5000, 0), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0005000, PF_W), SHADOW_PROTECTED);
	assert_int_equal(access_memory(0xc0006000, PF_W), SHADOW_FILLED);
	/* The large page is in pieces, and each can be written but one. */
	for (u32 i = 0; i < 1024; i++)
		assert_int_equal(shadow_walk(processor.cr3, 0xc0000000 + i * PAGE_SIZE, &global)
					 .writable, i != 5);
	shadow_protect(&x86, SHADOW_NO_FRAME);
	assert_int_equal(access_memory(0x5000, PF_W), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0005000, PF_W), SHADOW_FILLED);
	check_isolation();
	guest_end();
}

/* A GDT may be there as well as anywhere else. */
static void page_0_can_be_protected(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	entry_set(0x8000, 0 | PTE_P | PTE_W | PTE_U | PTE_D | PTE_A);
	assert_int_equal(access_memory(0, PF_W), SHADOW_FILLED);
	shadow_protect(&x86, 0);
	assert_int_equal(access_memory(0, PF_W), SHADOW_PROTECTED);
	assert_int_equal(access_memory(0, 0), SHADOW_FILLED);
	assert_false(shadow_walk(processor.cr3, 0, &global).writable);
	assert_int_equal(access_memory(0xc0000000, PF_W), SHADOW_PROTECTED);
	assert_int_equal(access_memory(0xc0001000, PF_W), SHADOW_FILLED);
	/* Nor does it get there beside another, or within a large page. */
	assert_int_equal(access_memory(0x1000, 0), SHADOW_FILLED);
	assert_false(shadow_walk(processor.cr3, 0, &global).writable);
	shadow_protect(&x86, SHADOW_NO_FRAME);
	assert_int_equal(access_memory(0, PF_W), SHADOW_FILLED);
	assert_int_equal(access_memory(0xc0000000, PF_W), SHADOW_FILLED);
	check_isolation();
	guest_end();
}

static void a_change_of_the_kernel_half_ends_the_short_way(void **state)
{
	const u32 page = 0xc0005000;

	(void)state;
	plain_start(64);
	for (unsigned change = 0; change < 4; change++) {
		x86.shadow.protected_page = page;
		if (change == 0)
			shadow_invalidate(&x86, page);
		else if (change == 1)
			shadow_flush_all(&x86);
		else if (change == 2)
			shadow_protect(&x86, 0x5000);
		else
			cr0_load(x86.cr0 & ~CR0_PG);
		assert_int_equal(x86.shadow.protected_page, 0);
	}
	guest_end();
}

static void caching_begins_with_the_first_flush(void **state)
{
	(void)state;
	plain_start(64);
	access_memory(0x5000, PF_U);
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 0);
	shadow_flush(&x86, directories[3], 0, PAGE_SIZE);
	assert_int_equal(vcpu.counters[COUNTER_flush_misses], 1);
	access_memory(0x5000, PF_U);
	cr3_load(directories[1]);
	cr3_load(directories[0]);
	assert_int_equal(vcpu.counters[COUNTER_space_hits], 1);
	assert_int_equal(x86.shadow.current->used_groups[0], 1);
	/* The same value once more asks for a flush. */
	cr3_load(directories[0]);
	assert_int_equal(x86.shadow.current->used_groups[0], 0);
	guest_end();
}

static void a_kernel_page_is_filled_when_it_is_invalidated(void **state)
{
	bool global;

	(void)state;
	plain_start(64);
	for (u32 i = 0; i < 1024; i++)
		entry_set(0x9000 + i * 4, 0);
	entry_set(pde_address(0, 0x301), 0x9000 | PTE_P | PTE_W);
	shadow_flush_all(&x86);
	entry_set(0x9000 + 4, 0x7000 | PTE_P | PTE_W | PTE_G | PTE_D);
	shadow_invalidate(&x86, 0xc0401000);
	assert_int_equal(shadow_walk(processor.cr3, 0xc0401000, &global).frame,
			 GUEST_BASE + 0x7000);
	assert_true(global);
	entry_set(0x9000 + 4, 0);
	shadow_invalidate(&x86, 0xc0401000);
	assert_false(shadow_walk(processor.cr3, 0xc0401000, &global).present);
}

/* The processor remembers a page of the kernel half that is not the guest's to write. Its 4 MiB are
 * rebuilt when another page of them is invalidated, and now it could be written. */
static void the_vmm_does_not_store_where_a_page_was(void **state)
{
	const u32 page = 0xc0405000, other = 0xc0407000;

	(void)state;
	plain_start(64);
	for (u32 i = 0; i < 1024; i++)
		entry_set(0x9000 + i * 4, 0);
	entry_set(0x9000 + 5 * 4, GUEST_SIZE | PTE_P | PTE_W | PTE_A | PTE_D);
	entry_set(pde_address(0, 0x301), 0x9000 | PTE_P | PTE_W);
	shadow_flush_all(&x86);
	assert_int_equal(access_memory(page, 0), SHADOW_FILLED);
	assert_int_equal(tlb_walk(page).frame, x86.shadow.nothing);
	entry_set(pde_address(0, 0x301), 0);
	shadow_invalidate(&x86, other);
	entry_set(0x9000 + 5 * 4, 0x7000 | PTE_P | PTE_W | PTE_A | PTE_D);
	entry_set(pde_address(0, 0x301), 0x9000 | PTE_P | PTE_W);
	shadow_invalidate(&x86, other);
	vmm_stores(page);
	guest_end();
}

/* A page that is not the guest's stands in the shadow, and the guest's entry leads to the
 * protected page by now. The VMM may write that one, and nothing else. */
static void the_vmm_does_not_store_where_the_protected_page_is_not_yet(void **state)
{
	const u32 pages[] = { 0x5000, 0xc0405000 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(pages); i++) {
		u32 directory = pages[i] >> 22;

		plain_start(64);
		for (u32 j = 0; j < 1024; j++)
			entry_set(0x9000 + j * 4, 0);
		entry_set(0x9000 + 5 * 4, GUEST_SIZE | PTE_P | PTE_W | PTE_A | PTE_D);
		entry_set(pde_address(0, directory), 0x9000 | PTE_P | PTE_W);
		shadow_flush_all(&x86);
		shadow_protect(&x86, 0x6000);
		assert_int_equal(access_memory(pages[i], 0), SHADOW_FILLED);
		assert_int_equal(tlb_walk(pages[i]).frame, x86.shadow.nothing);
		entry_set(0x9000 + 5 * 4, 0x6000 | PTE_P | PTE_W | PTE_A | PTE_D);
		vmm_stores(pages[i]);
		assert_int_equal(tlb_walk(pages[i]).frame, x86.shadow.memory_base + 0x6000);
		guest_end();
	}
}

/* Interrupts wait for a part of the identity only, however large the guest is. */
static void a_large_guest_is_reset_in_steps(void **state)
{
	(void)state;
	guest_start(64);
	x86.shadow.memory_size = 0xc0000000u;
	asked.admissions = 0;
	shadow_reset(&x86);
	assert_int_equal(asked.admissions, (0xc0000000u >> 22) / 8);
	assert_int_equal(physical_word(x86.shadow.identity)[767],
			 (GUEST_BASE + (767u << 22)) | PTE_P | PTE_W | PTE_U | PTE_PS | PTE_A |
				 PTE_D);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vmm_does_not_store_where_a_page_was),
		cmocka_unit_test(the_vmm_does_not_store_where_the_protected_page_is_not_yet),
		cmocka_unit_test(the_pool_is_too_small_to_create),
		cmocka_unit_test(a_large_guest_is_reset_in_steps),
		cmocka_unit_test(paging_off_and_on_keeps_spaces_apart),
		cmocka_unit_test(paging_off_forgets_what_nobody_flushed),
		cmocka_unit_test(ring_3_runs_without_paging),
		cmocka_unit_test(the_vmm_is_never_filled),
		cmocka_unit_test(a_kernel_page_that_cannot_be_split_vanishes),
		cmocka_unit_test(a_frame_is_zeroed_between_faults_of_a_process),
		cmocka_unit_test(a_table_is_freed_only_when_the_processor_forgets_it),
		cmocka_unit_test(all_spaces_in_use_are_evicted_in_turn),
		cmocka_unit_test(a_space_larger_than_the_pool_is_refused),
		cmocka_unit_test(a_load_without_a_frame_stops_the_guest),
		cmocka_unit_test(a_fault_fills_its_neighbours),
		cmocka_unit_test(a_page_is_writable_only_after_it_is_dirty),
		cmocka_unit_test(a_page_made_for_a_write_comes_alone),
		cmocka_unit_test(the_vmm_writes_where_the_guests_kernel_could),
		cmocka_unit_test(error_codes_are_those_of_the_guests_tables),
		cmocka_unit_test(memory_that_is_missing_reads_as_ones),
		cmocka_unit_test(the_local_apic_is_read_where_it_is),
		cmocka_unit_test(a_protected_page_is_read_only_everywhere),
		cmocka_unit_test(page_0_can_be_protected),
		cmocka_unit_test(a_change_of_the_kernel_half_ends_the_short_way),
		cmocka_unit_test(caching_begins_with_the_first_flush),
		cmocka_unit_test(a_kernel_page_is_filled_when_it_is_invalidated),
	};

	return RUN_TESTS(tests);
}
