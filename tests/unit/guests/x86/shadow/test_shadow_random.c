/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables of guests that do anything, against a model that shares nothing with them: one
 * walker over the guest's tables, one over the shadow's, and a TLB that keeps what it may. A guest
 * that keeps the rules must never see more than its tables allow; one that does not must still see
 * nothing but its own memory.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <setjmp.h>

#include "guests/x86/shadow/shadow_guest.h"

static u32 random_below(u32 limit)
{
	return random_next(&random_state) % limit;
}

static bool one_in(u32 number)
{
	return random_below(number) == 0;
}

/* What a random step asks for, and may be refused. */
static void may_fail(bool result)
{
	(void)result;
}

/* What must hold for a guest that keeps the rules. */

static void rights_are_covered(struct rights shadow, u32 directory, u32 linear)
{
	struct rights real = guest_walk(directory, x86.cr4, linear);
	bool dirty = real.dirty || (linear >= KERNEL_DIRECTORY << 22 && any_dirty(linear));

	if (!shadow.present)
		return;
	if (!real.present || shadow.user > real.user || shadow.writable > real.writable ||
	    shadow.writable > dirty)
		print_message("shadow of %x in %x: U %d W %d; guest: P %d U %d W %d D %d\n", linear,
			      directory, shadow.user, shadow.writable, real.present, real.user,
			      real.writable, real.dirty);
	assert_true(real.present);
	assert_true(shadow.user <= real.user);
	assert_true(shadow.writable <= real.writable);
	assert_true(shadow.writable <= dirty);
	if (real.frame < GUEST_SIZE)
		assert_int_equal(shadow.frame, GUEST_BASE + real.frame);
	else
		assert_int_equal(shadow.frame, x86.shadow.nothing);
	if (real.frame == x86.shadow.protected_frame &&
	    (directory == x86.cr3 || linear >= KERNEL_DIRECTORY << 22))
		assert_false(shadow.writable);
}

static u32 table_word(u32 pde, u32 index)
{
	return *physical_word((pde & PTE_FRAME) + index * 4);
}

static void half_is_covered(u32 shadow_directory, u32 directory, u32 first, u32 end)
{
	bool global;

	for (u32 i = first; i < end; i++) {
		u32 pde = *physical_word(shadow_directory + i * 4);

		if ((pde & PTE_P) == 0)
			continue;
		for (u32 page = 0; page < 1024; page += pde & PTE_PS ? 341 : 1)
			if ((pde & PTE_PS) || table_word(pde, page) != 0)
				rights_are_covered(shadow_walk(shadow_directory,
							       i << 22 | page << 12, &global),
						   directory, i << 22 | page << 12);
	}
}

static void check_coverage(void)
{
	for (u32 i = 0; i < SHADOW_SPACES_PER_FRAME * SHADOW_SPACE_FRAMES; i++)
		if (space_of(i)->directory != 0 &&
		    (x86.shadow.caching || space_of(i) == x86.shadow.current))
			half_is_covered(space_of(i)->directory, space_of(i)->guest, 0,
					KERNEL_DIRECTORY);
	if (x86.shadow.current == NULL)
		return;
	half_is_covered(x86.shadow.master, x86.cr3, KERNEL_DIRECTORY, BASE_DIRECTORY);
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (tlb[i].valid && tlb[i].page < GANDALF_BASE >> 12)
			rights_are_covered(tlb[i].rights, x86.cr3, tlb[i].page << 12);
}

/* Where a store to the protected page takes the short way, it is one, and allowed. */
static u32 short_ways;

static void short_way_is_right(void)
{
	u32 page = x86.shadow.protected_page;
	struct rights there, guests;
	bool global;

	if (x86.shadow.current == NULL || page == 0)
		return;
	there = shadow_walk(processor.cr3, page, &global);
	guests = guest_walk(x86.cr3, x86.cr4, page);
	if (!there.present || there.writable)
		return;
	assert_true(rights_allow(guests, PF_W));
	assert_int_equal(guests.frame, x86.shadow.protected_frame);
	short_ways++;
}

static void cr4_load(u32 value)
{
	u32 old = x86.cr4;

	x86.cr4 = value;
	if (old != value)
		shadow_flush_all(&x86);
}

/* A guest that keeps the rules: twelve directories with the same kernel half. */

static const u32 user_slots[] = { 0, 1, 0x20, 0x2ff };
static const u32 kernel_slots[] = { 0x300, 0x301, 0x302, 0x3ef };
#define TABLES_OF_DIRECTORIES 0x40000u
#define TABLES_OF_KERNEL 0x30000u

static u32 user_table(u32 directory, u32 slot)
{
	return TABLES_OF_DIRECTORIES + (directory * 4 + slot) * PAGE_SIZE;
}

static u32 random_frame(void)
{
	if (one_in(10))
		return (FRAMES_OF_GUEST + random_below(5000)) << 12;
	return random_below(FRAMES_OF_GUEST) << 12;
}

static u32 random_flags(void)
{
	u32 flags = PTE_P | (random_next(&random_state) & (PTE_W | PTE_U | PTE_A | PTE_D | PTE_G));

	return one_in(3) ? flags | PTE_U | PTE_A : flags;
}

static u32 random_pte(void)
{
	return one_in(4) ? 0 : random_frame() | random_flags();
}

static u32 random_pde(u32 table)
{
	if (one_in(8))
		return 0;
	if (one_in(6))
		return random_below(3) << 22 | PTE_PS | random_flags();
	return table | PTE_P | PTE_U | (one_in(4) ? 0 : PTE_W);
}

static void kernel_pde_set(u32 index, u32 value)
{
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		entry_set(pde_address(i, index), value);
}

static void tables_make(u32 seed)
{
	random_state = seed;
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		/* Every third hashes to the same place. */
		directories[i] = 0x100000 + i % 3 * PAGE_SIZE + i / 3 * 0x80000;
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		for (u32 slot = 0; slot < ARRAY_SIZE(user_slots); slot++) {
			entry_set(pde_address(i, user_slots[slot]),
				  random_pde(user_table(i, slot)));
			for (u32 j = 0; j < 1024; j++)
				entry_set(user_table(i, slot) + j * 4, random_pte());
		}
	}
	for (u32 slot = 0; slot < ARRAY_SIZE(kernel_slots); slot++) {
		kernel_pde_set(kernel_slots[slot],
			       random_pde(TABLES_OF_KERNEL + slot * PAGE_SIZE) & ~PTE_U);
		for (u32 j = 0; j < 1024; j++)
			entry_set(TABLES_OF_KERNEL + slot * PAGE_SIZE + j * 4, random_pte());
	}
}

static u32 random_linear(void)
{
	u32 slot = random_below(4);
	u32 index = one_in(3) ? kernel_slots[slot] : user_slots[slot];
	/* Few pages, so that accesses meet edits. */
	u32 page = one_in(2) ? random_below(24) : random_below(1024);

	return index << 22 | page << 12 | random_below(PAGE_SIZE);
}

static bool is_kernel(u32 linear)
{
	return linear >= KERNEL_DIRECTORY << 22;
}

static void random_access(void)
{
	access_and_check(random_linear(), (random_next(&random_state) & (PF_W | PF_U)));
}

static u32 current_index(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		if (directories[i] == x86.cr3)
			return i;
	return 0;
}

/* More rights need no flush. */
static void random_upgrade(void)
{
	u32 directory = random_below(ARRAY_SIZE(directories));
	u32 linear = random_linear();
	u32 slot = random_below(4);
	u32 table = is_kernel(linear) ? TABLES_OF_KERNEL + slot * PAGE_SIZE
				      : user_table(directory, slot);
	u32 *entry = guest_word(table + (linear >> 12) % 1024 * 4);

	if (*entry & PTE_P)
		*entry |= random_next(&random_state) & (PTE_W | PTE_U | PTE_A | PTE_D);
	else
		*entry = random_pte();
}

static void kernel_flush_all(void)
{
	if (x86.cr4 & CR4_PGE) {
		cr4_load(x86.cr4 & ~CR4_PGE);
		cr4_load(x86.cr4 | CR4_PGE);
	} else {
		cr3_load(x86.cr3);
	}
}

static void user_flush(u32 directory, u32 linear, u32 size)
{
	bool current = directory == current_index();

	if (x86.shadow.caching) {
		u32 start = linear - (one_in(3) ? random_below(0x10000) & PTE_FRAME : 0);

		if (start > linear)
			start = linear;
		if (current && size == PAGE_SIZE && one_in(3))
			shadow_invalidate(&x86, linear);
		else if (current && one_in(6))
			cr3_load(x86.cr3);
		else if (one_in(8))
			shadow_flush(&x86, directories[directory], 0, 0xffffffff);
		else
			shadow_flush(&x86, directories[directory] | random_below(PAGE_SIZE), start,
				     linear + size);
	} else if (current) {
		if (size == PAGE_SIZE && one_in(2))
			shadow_invalidate(&x86, linear);
		else
			cr3_load(x86.cr3);
	}
}

/* Fewer rights, another page, another table: used between the store and the
 * flush, checked after the flush. */
static void random_downgrade(void)
{
	u32 directory = one_in(2) ? current_index() : random_below(ARRAY_SIZE(directories));
	u32 slot = random_below(4);
	u32 page = one_in(2) ? random_below(24) : random_below(1024);
	u32 linear = user_slots[slot] << 22 | page << 12;

	if (one_in(8)) {
		entry_set(pde_address(directory, user_slots[slot]),
			  random_pde(user_table(directory, slot)));
		user_flush(directory, user_slots[slot] << 22, LARGE_PAGE_SIZE);
		return;
	}
	entry_set(user_table(directory, slot) + page * 4, random_pte());
	if (one_in(4) && directory == current_index())
		access_memory(linear ^ 0x1000, PF_U);
	user_flush(directory, linear, PAGE_SIZE);
}

static void random_kernel_downgrade(void)
{
	u32 slot = random_below(4);
	u32 page = random_below(1024);

	/* Half of the time where the protected page is. */
	if (one_in(2))
		for (u32 i = 0; i < 4; i++)
			if (x86.shadow.protected_page >> 22 == kernel_slots[i]) {
				slot = i;
				page = x86.shadow.protected_page >> 12 & 1023;
			}
	if (one_in(4)) {
		kernel_pde_set(kernel_slots[slot],
			       random_pde(TABLES_OF_KERNEL + slot * PAGE_SIZE) & ~PTE_U);
		kernel_flush_all();
		return;
	}
	entry_set(TABLES_OF_KERNEL + slot * PAGE_SIZE + page * 4, random_pte());
	if (one_in(4) || x86.shadow.current == NULL)
		kernel_flush_all();
	else
		shadow_invalidate(&x86, kernel_slots[slot] << 22 | page << 12);
}

/* The kernel unmaps a whole address space, as at exit. */
static void random_exit(void)
{
	u32 directory = random_below(ARRAY_SIZE(directories));

	for (u32 slot = 0; slot < ARRAY_SIZE(user_slots); slot++)
		entry_set(pde_address(directory, user_slots[slot]), 0);
	if (x86.shadow.caching)
		shadow_flush(&x86, directories[directory], 0, 0xffffffff);
	else
		user_flush(directory, 0, KERNEL_DIRECTORY << 22);
	for (u32 slot = 0; slot < ARRAY_SIZE(user_slots); slot++)
		entry_set(pde_address(directory, user_slots[slot]),
			  random_pde(user_table(directory, slot)));
	if (!x86.shadow.caching && directory == current_index())
		cr3_load(x86.cr3);
}

static void random_switch(void)
{
	cr3_load(directories[random_below(ARRAY_SIZE(directories))]);
}

static void random_paging(void)
{
	cr0_load(x86.cr0 & ~CR0_PG);
	for (unsigned i = 0; i < 5; i++)
		access_and_check(one_in(2) ? random_below(GUEST_SIZE) : random_linear(),
				 random_next(&random_state) & (PF_W | PF_U));
	check_isolation();
	x86.cr3 = directories[random_below(ARRAY_SIZE(directories))];
	cr0_load(x86.cr0 | CR0_PG);
}

static void random_protection(void)
{
	struct rights rights;
	u32 linear;

	if (one_in(3)) {
		shadow_protect(&x86, one_in(3) ? SHADOW_NO_FRAME
					      : random_below(FRAMES_OF_GUEST) << 12);
		return;
	}
	/* A GDT, and a store to it. */
	for (u32 i = 0; i < 20; i++) {
		linear = kernel_slots[random_below(4)] << 22 | random_below(24) << 12;
		rights = guest_walk(x86.cr3, x86.cr4, linear);
		if (rights_allow(rights, PF_W) && rights.frame < GUEST_SIZE)
			break;
	}
	shadow_protect(&x86, rights.frame);
	access_and_check(linear, PF_W);
}

static void step_legal(bool caches)
{
	switch (random_below(40)) {
	case 0 ... 5:
		random_upgrade();
		break;
	case 6 ... 12:
		random_downgrade();
		break;
	case 13 ... 14:
		random_kernel_downgrade();
		break;
	case 15 ... 17:
		random_switch();
		break;
	case 18:
		if (one_in(3))
			random_exit();
		break;
	case 19:
		if (one_in(6))
			random_paging();
		break;
	case 20:
		if (one_in(6))
			random_protection();
		break;
	case 21:
		if (caches && !x86.shadow.caching && one_in(3))
			shadow_flush(&x86, x86.cr3, 0, 0xffffffff);
		break;
	default:
		random_access();
	}
}

static void run_legal(u32 seed, u32 frames, u32 steps, u32 cr4, bool caches)
{
	guest_start(frames);
	tables_make(seed);
	x86.cr4 = cr4;
	x86.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
	for (u32 i = 0; i < steps && !asked.stops; i++) {
		step_legal(caches);
		short_way_is_right();
		if (i % 6 == 0) {
			check_isolation();
			check_coverage();
		}
	}
	assert_false(asked.stops);
	guest_end();
}

static void cached_spaces_cover_the_guests(void **state)
{
	(void)state;
	for (u32 seed = 1; seed <= 6; seed++)
		run_legal(seed, 1023, 1500, CR4_PSE | CR4_PGE, true);
}

static void uncached_spaces_cover_the_guests(void **state)
{
	(void)state;
	short_ways = 0;
	for (u32 seed = 11; seed <= 16; seed++)
		run_legal(seed, 1023, 1500, CR4_PSE | CR4_PGE, false);
	print_message("%u steps with a short way\n", short_ways);
	assert_true(short_ways > 20);
}

static void spaces_without_global_or_large_pages_cover_the_guests(void **state)
{
	(void)state;
	for (u32 seed = 21; seed <= 22; seed++) {
		run_legal(seed, 1023, 1000, CR4_PSE, true);
		run_legal(seed, 1023, 1000, CR4_PGE, true);
		run_legal(seed, 1023, 1000, 0, one_in(2));
	}
}

/* 26 frames: what one space can need, and a few more. */
static void eviction_keeps_a_poor_guest_running(void **state)
{
	u32 evictions = 0;

	(void)state;
	for (u32 seed = 31; seed <= 34; seed++) {
		run_legal(seed, 26, 1500, CR4_PSE | CR4_PGE, true);
		evictions += vcpu.counters[COUNTER_space_evictions];
	}
	assert_true(evictions > 40);
}

/* A guest that keeps no rule. */

static u32 hostile_linear(void)
{
	u32 linear = random_linear();

	if (one_in(6))
		return (BASE_DIRECTORY + random_below(16)) << 22 | (linear & 0x3fffff);
	return one_in(6) ? random_next(&random_state) : linear;
}

static u32 hostile_value(void)
{
	u32 value = one_in(2) ? random_pte() : random_next(&random_state);

	/* Its own tables and directories as pages and as tables. */
	if (one_in(4))
		value = random_below(0x100) << 12 | random_flags();
	return one_in(6) ? value | PTE_PS : value;
}

static void hostile_store(void)
{
	u32 directory = random_below(ARRAY_SIZE(directories));

	if (one_in(3))
		entry_set(pde_address(directory, hostile_linear() >> 22), hostile_value());
	else if (one_in(2))
		entry_set(user_table(directory, random_below(4)) + random_below(24) * 4,
			  hostile_value());
	else
		entry_set(TABLES_OF_KERNEL + random_below(0x1000) * 4, hostile_value());
}

static void hostile_fill(void)
{
	u32 error = random_next(&random_state);
	u32 linear = hostile_linear();

	/* From a fault, or out of the emulation of an instruction. */
	if (linear < GANDALF_BASE && !one_in(5))
		access_memory(linear, error & (PF_W | PF_U));
	else
		may_fail(shadow_fill(&x86, linear, &error) != SHADOW_FILLED);
}

static void hostile_load(void)
{
	u32 value = directories[random_below(ARRAY_SIZE(directories))];

	if (one_in(4))
		value |= random_below(PAGE_SIZE);
	if (one_in(8))
		value = random_next(&random_state);
	cr3_load(value);
}

static void step_hostile(void)
{
	switch (random_below(24)) {
	case 0 ... 6:
		hostile_store();
		break;
	case 7 ... 9:
		hostile_load();
		break;
	case 10:
		if (one_in(3))
			cr0_load(x86.cr0 ^ CR0_PG);
		break;
	case 11:
		if (one_in(5))
			cr4_load(random_next(&random_state) & (CR4_PSE | CR4_PGE));
		break;
	case 12:
		shadow_invalidate(&x86, hostile_linear());
		break;
	case 13:
		if (one_in(50) || x86.shadow.caching)
			shadow_flush(&x86, directories[random_below(ARRAY_SIZE(directories))],
				     hostile_linear(), hostile_linear());
		break;
	case 14:
		if (one_in(5))
			shadow_protect(&x86, one_in(3) ? random_next(&random_state) & PTE_FRAME
						      : random_below(FRAMES_OF_GUEST) << 12);
		break;
	case 15:
		may_fail(shadow_fill_for_vmm(&vcpu, hostile_linear(), 0));
		may_fail(shadow_make_writable(&x86, random_linear()));
		vmm_stores(random_linear());
		break;
	default:
		hostile_fill();
	}
}

/* On a dedicated CPU: at points of long work the guest's own handlers run, which have had the
 * processor forget page tables first, do anything, and may stop the guest. */
static u32 point_depth, points_used;
static bool points_stop;
static jmp_buf given_up;

/* Own stand-ins: at each upcall_point() the guest goes on. */
void upcall_point(struct x86 *which)
{
	assert_ptr_equal(which, &x86);
	if (point_depth == UPCALL_DEPTH || !one_in(3))
		return;
	cr3_write(cr3_read());
	check_isolation();
	point_depth++;
	points_used++;
	for (u32 steps = random_below(6); steps != 0 && !asked.stops; steps--)
		step_hostile();
	check_isolation();
	if (points_stop && one_in(50))
		longjmp(given_up, 1);
	point_depth--;
}

static void run_interrupted(u32 seed, u32 frames, u32 steps)
{
	guest_start(frames);
	tables_make(seed);
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = directories[0];
	policy_set(&x86, &fake_dedicated);
	x86.point = upcall_point;
	point_depth = 0;
	points_stop = seed % 2 != 0;
	if (setjmp(given_up) == 0)
		for (u32 i = 0; i < steps && !asked.stops; i++) {
			step_hostile();
			check_isolation();
		}
	guest_end();
}

static void a_hostile_guest_that_interrupts_the_vmm_gains_nothing(void **state)
{
	(void)state;
	points_used = 0;
	for (u32 seed = 301; seed <= 308; seed++)
		run_interrupted(seed, seed % 3 == 0 ? 14 + seed % 24 : 1023, 300);
	assert_true(points_used > 500);
}

static void run_hostile(u32 seed, u32 frames, u32 steps)
{
	guest_start(frames);
	tables_make(seed);
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = directories[0];
	for (u32 i = 0; i < steps && !asked.stops; i++) {
		step_hostile();
		if (i % 4 == 0)
			check_isolation();
	}
	guest_end();
}

static void a_hostile_guest_reaches_nothing_else(void **state)
{
	(void)state;
	for (u32 seed = 101; seed <= 108; seed++)
		run_hostile(seed, 1023, 1000);
}

static void a_hostile_guest_gains_nothing_from_an_empty_pool(void **state)
{
	(void)state;
	for (u32 seed = 201; seed <= 224; seed++)
		run_hostile(seed, 14 + seed % 24, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cached_spaces_cover_the_guests),
		cmocka_unit_test(uncached_spaces_cover_the_guests),
		cmocka_unit_test(spaces_without_global_or_large_pages_cover_the_guests),
		cmocka_unit_test(eviction_keeps_a_poor_guest_running),
		cmocka_unit_test(a_hostile_guest_reaches_nothing_else),
		cmocka_unit_test(a_hostile_guest_gains_nothing_from_an_empty_pool),
		cmocka_unit_test(a_hostile_guest_that_interrupts_the_vmm_gains_nothing),
	};

	return RUN_TESTS(tests);
}
