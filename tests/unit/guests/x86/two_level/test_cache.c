/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page-table cache, where the VMM alone is privileged: how many spaces there are at once, which
 * goes when another one is needed, and that nothing of one that has gone is left.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "guests/x86/shadow/shadow_guest.h"

#define ALL (PTE_P | PTE_W | PTE_U | PTE_A | PTE_D)
/* Each directory has a page of its own at this address. */
#define PAGE 0x10000u

struct view_switch view_switch;
struct gandalf_table system_table;

/* Own stand-ins: views_forget_returns() has nothing to forget, and is inline without two levels. */
void views_forget_returns(void)
{
}

static u32 page_of(u32 directory)
{
	return 0x20000 + directory * PAGE_SIZE;
}

/* A guest whose spaces are kept, with a cache. Directory 0 is loaded. */
static void guest_with_cache(u32 entries, u32 policy)
{
	guest_start(200);
	memset(&view_switch, 0, sizeof(view_switch));
	system_table.flags =
		entries * GANDALF_TABLE_CACHE_UNIT | policy * GANDALF_TABLE_POLICY_UNIT;
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		u32 table = 0x8000 + i * PAGE_SIZE;

		directories[i] = 0x100000 + i * 0x80000;
		entry_set(pde_address(i, 0), table | ALL);
		entry_set(table + PAGE / PAGE_SIZE * sizeof(u32), page_of(i) | ALL);
	}
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
	shadow_flush(&x86, directories[0], 0, PAGE_SIZE);
}

/* Loads a directory, and has its process write to its page. Returns whether it had been kept. */
static bool turn(u32 directory)
{
	u32 hits = vcpu.counters[COUNTER_space_hits];
	u32 misses = vcpu.counters[COUNTER_space_misses];

	cr3_load(directories[directory]);
	assert_int_equal(access_memory(PAGE, PF_U | PF_W), SHADOW_FILLED);
	assert_int_equal(tlb_walk(PAGE).frame, GUEST_BASE + page_of(directory));
	check_isolation();
	hits = vcpu.counters[COUNTER_space_hits] - hits;
	assert_int_equal(hits + vcpu.counters[COUNTER_space_misses] - misses, 1);
	return hits != 0;
}

static u32 spaces(void)
{
	u32 count = 0;

	for (u32 i = 0; i < x86.shadow.space_limit; i++)
		count += space_of(i)->directory != 0;
	return count;
}

/* Gives each of some directories a turn, again and again. Returns the hits. */
static u32 hits_of(u32 entries, u32 policy, u32 processes)
{
	u32 hits = 0;

	guest_with_cache(entries, policy);
	for (u32 i = 0; i < 240; i++) {
		hits += turn(i % processes);
		assert_true(spaces() <= entries);
	}
	guest_end();
	return hits;
}

static void there_are_never_more_than_entries(void **state)
{
	static const u32 entries[] = {1, 2, 3, 4, 8, 11};

	(void)state;
	for (u32 policy = 0; policy < 3; policy++)
		for (u32 i = 0; i < ARRAY_SIZE(entries); i++) {
			(void)hits_of(entries[i], policy, ARRAY_SIZE(directories));
			/* All but the first load of each, when there is room for all. */
			assert_int_equal(hits_of(entries[i], policy, entries[i]),
					 240 - entries[i] + 1);
		}
}

/* A vCPU that comes back to a core finds its spaces there, of which none is loaded. */
static void nor_when_a_vcpu_comes_back(void **state)
{
	(void)state;
	guest_with_cache(3, GANDALF_TABLE_CACHE_LRU);
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		x86.shadow.current = NULL;
		x86.shadow.guest_directory = NULL;
		(void)turn(i);
		assert_true(spaces() <= 3);
	}
	assert_int_equal(spaces(), 3);
}

static void without_a_number_all_are_kept(void **state)
{
	(void)state;
	guest_with_cache(0, GANDALF_TABLE_CACHE_LRU);
	for (u32 i = 1; i < ARRAY_SIZE(directories); i++)
		assert_false(turn(i));
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++)
		assert_true(turn(i));
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 0);
	guest_end();
}

static void lru_drops_what_was_loaded_longest_ago(void **state)
{
	(void)state;
	guest_with_cache(3, GANDALF_TABLE_CACHE_LRU);
	assert_false(turn(1));
	assert_false(turn(2));
	assert_true(turn(0));
	assert_false(turn(3)); /* for 1 */
	assert_int_equal(vcpu.counters[COUNTER_space_evictions], 1);
	assert_true(turn(2));
	assert_true(turn(0));
	assert_false(turn(1));
	guest_end();
}

static void fifo_drops_what_was_made_first(void **state)
{
	(void)state;
	guest_with_cache(3, GANDALF_TABLE_CACHE_FIFO);
	assert_false(turn(1));
	assert_false(turn(2));
	assert_true(turn(0));
	assert_false(turn(3)); /* for 0, which is loaded */
	assert_true(turn(1));
	assert_true(turn(2));
	assert_false(turn(0)); /* for 1 */
	assert_false(turn(1));
	guest_end();
}

/* What comes and goes once does not push out what has been loaded twice. */
static void bimodal_keeps_what_comes_again(void **state)
{
	(void)state;
	guest_with_cache(4, GANDALF_TABLE_CACHE_BIMODAL);
	assert_false(turn(1));
	assert_true(turn(0));
	assert_true(turn(1));
	assert_false(turn(2));
	for (u32 i = 3; i < 8; i++)
		assert_false(turn(i));
	assert_true(turn(0));
	assert_true(turn(1));
	guest_end();
}

/* One that comes back after all has a place at last. */
static void bimodal_lets_new_ones_in(void **state)
{
	u32 hits = 0;

	(void)state;
	guest_with_cache(4, GANDALF_TABLE_CACHE_BIMODAL);
	for (u32 i = 0; i < 40; i++)
		(void)turn(i % 4);
	for (u32 i = 0; i < 200; i++)
		hits += turn(4 + i % 4);
	assert_true(hits > 100);
	guest_end();
}

/* More processes in turn than entries: the other policies drop each before its turn comes. */
static void bimodal_finds_some_of_too_many(void **state)
{
	(void)state;
	assert_int_equal(hits_of(8, GANDALF_TABLE_CACHE_LRU, 12), 1);
	assert_int_equal(hits_of(8, GANDALF_TABLE_CACHE_FIFO, 12), 1);
	assert_true(hits_of(8, GANDALF_TABLE_CACHE_BIMODAL, 12) > 80);
}

/* The guest's kernel flushes the whole of it, and loads another one behind that. */
static void process_ends(u32 directory)
{
	shadow_flush(&x86, directories[directory], 0, ~0u);
	assert_int_equal(*physical_word(x86.shadow.current->directory), 0);
}

static void what_has_ended_goes_first(void **state)
{
	(void)state;
	for (u32 policy = 0; policy < 3; policy++)
		for (u32 last = 0; last < 2; last++) {
			guest_with_cache(4, policy);
			for (u32 i = 1; i < 4; i++)
				assert_false(turn(i));
			assert_true(turn(1 + last));
			process_ends(1 + last);
			assert_true(turn(0));
			assert_false(turn(4)); /* for the one that has ended */
			assert_true(turn(0));
			assert_true(turn(3));
			assert_true(turn(2 - last));
			assert_false(turn(1 + last));
			guest_end();
		}
}

static void without_hints_it_goes_in_its_turn(void **state)
{
	(void)state;
	guest_with_cache(3, GANDALF_TABLE_CACHE_LRU);
	system_table.flags |= GANDALF_TABLE_NO_HINTS;
	assert_false(turn(1));
	assert_false(turn(2));
	process_ends(2);
	assert_true(turn(0));
	assert_false(turn(3)); /* for 1 */
	assert_true(turn(2));
	guest_end();
}

/* A load of what is loaded is a flush, and no sign that it will be loaded again. */
static void a_flush_is_no_second_load(void **state)
{
	(void)state;
	guest_with_cache(3, GANDALF_TABLE_CACHE_BIMODAL);
	assert_false(turn(1));
	assert_true(turn(0));
	assert_true(turn(1));
	assert_false(turn(2));
	assert_true(turn(2));
	assert_false(turn(3)); /* for 2 */
	assert_true(turn(0));
	assert_true(turn(1));
	guest_end();
}

/* Of each turn's page the TLB has the frame that is its own: the one of the turn before is global,
 * and dropped. */
static void global_pages_go_with_their_space(void **state)
{
	(void)state;
	guest_with_cache(3, GANDALF_TABLE_CACHE_LRU);
	view_switch.global = PTE_G / PTE_U;
	for (u32 i = 0; i < 12; i++) {
		(void)turn(i % 3);
		assert_true(tlb_find(PAGE)->global);
	}
	guest_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_never_more_than_entries),
		cmocka_unit_test(nor_when_a_vcpu_comes_back),
		cmocka_unit_test(without_a_number_all_are_kept),
		cmocka_unit_test(lru_drops_what_was_loaded_longest_ago),
		cmocka_unit_test(fifo_drops_what_was_made_first),
		cmocka_unit_test(bimodal_keeps_what_comes_again),
		cmocka_unit_test(bimodal_lets_new_ones_in),
		cmocka_unit_test(bimodal_finds_some_of_too_many),
		cmocka_unit_test(what_has_ended_goes_first),
		cmocka_unit_test(without_hints_it_goes_in_its_turn),
		cmocka_unit_test(a_flush_is_no_second_load),
		cmocka_unit_test(global_pages_go_with_their_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
