/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables while a sibling changes the guest's: the VMM, whose stores ignore protection,
 * stores to no page but one that the guest's kernel could write.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "entry_access.h"
#include "guests/x86/shadow/shadow_mapped.h"

#define PAGE 0x5000u
#define ENTRY (USER_TABLE + 5 * 4)
#define DIRECTORY_ENTRY pde_address(0, 0)
#define OUTSIDE 0x70000000u
#define PLAIN (PTE_P | PTE_W)

void (*amid_change)(u32 *entry);

/* What the sibling makes of an entry, how often, and what it has made of it so far. */
static u32 changed_address, changes[4], change_count, changed;

/* The VMM sees the entry in a window. */
static void sibling_changes(u32 *entry)
{
	if (((u32)entry ^ changed_address) % PAGE_SIZE == 0 && changed < change_count)
		*entry = changes[changed++];
}

static int start(void **state)
{
	mapped_start(state);
	amid_change = sibling_changes;
	changed_address = ENTRY;
	change_count = changed = 0;
	entry_set(ENTRY, OUTSIDE | PLAIN);
	/* The shadow shows the page of ones. */
	assert_int_equal(access_memory(PAGE, 0), SHADOW_FILLED);
	entry_set(ENTRY, 0x5000 | PLAIN);
	return 0;
}

static void the_sibling_makes_of_it(u32 entry)
{
	changes[change_count++] = entry;
}

static bool is_writable(void)
{
	bool global;

	return shadow_walk(processor.cr3, PAGE, &global).writable;
}

static void expect_frame(u32 frame)
{
	bool global;

	assert_int_equal(shadow_walk(processor.cr3, PAGE, &global).frame,
			 x86.shadow.memory_base + frame);
}

/* What was there before the look at the entry is in the shadow all the while. */
static void a_page_that_the_guest_lacks_is_not_stored_to(void **state)
{
	(void)state;
	the_sibling_makes_of_it(OUTSIDE | PLAIN);
	assert_false(shadow_make_writable(&x86, PAGE));
	assert_int_equal(changed, 1);
	assert_false(is_writable());
}

static void a_page_that_is_read_only_by_now_is_not_stored_to(void **state)
{
	(void)state;
	the_sibling_makes_of_it(0x6000 | PTE_P);
	assert_false(shadow_make_writable(&x86, PAGE));
}

static void the_page_that_is_there_in_the_end_is_stored_to(void **state)
{
	(void)state;
	the_sibling_makes_of_it(0x6000 | PLAIN);
	the_sibling_makes_of_it(0x7000 | PLAIN);
	assert_true(shadow_make_writable(&x86, PAGE));
	assert_int_equal(changed, 2);
	assert_true(is_writable());
	expect_frame(0x7000);
	check_isolation();
}

static void a_directory_entry_may_change_as_well(void **state)
{
	(void)state;
	changed_address = DIRECTORY_ENTRY;
	entry_set(DIRECTORY_ENTRY, USER_TABLE | PLAIN);
	the_sibling_makes_of_it(0);
	assert_false(shadow_make_writable(&x86, PAGE));
	entry_set(DIRECTORY_ENTRY, PLAIN | PTE_PS);
	changed = 0;
	changes[0] = 0x400000 | PLAIN | PTE_PS;
	assert_true(shadow_make_writable(&x86, PAGE));
	assert_int_equal(changed, 1);
	expect_frame(0x405000);
	check_isolation();
}

/* The protected page is written by the VMM, and by nobody else. */
static void the_protected_page_may_change_to_one_that_the_guest_lacks(void **state)
{
	(void)state;
	shadow_protect(&x86, 0x6000);
	the_sibling_makes_of_it(0x6000 | PLAIN);
	assert_true(shadow_make_writable(&x86, PAGE));
	expect_frame(0x6000);
	assert_false(is_writable());
	entry_set(ENTRY, 0x6000 | PLAIN);
	changed = 0;
	changes[0] = OUTSIDE | PLAIN;
	assert_false(shadow_make_writable(&x86, PAGE));
}

static void an_access_of_the_guest_is_repeated(void **state)
{
	u32 error = PF_W;

	(void)state;
	the_sibling_makes_of_it(0x6000 | PLAIN);
	assert_int_equal(shadow_fill(&x86, PAGE, &error), SHADOW_CHANGED);
	assert_true(shadow_repeats(SHADOW_CHANGED));
	assert_false(shadow_repeats(SHADOW_FAULT));
	assert_int_equal(shadow_fill(&x86, PAGE, &error), SHADOW_FILLED);
	expect_frame(0x6000);
}

/* A page that was made writable may be gone by the time of the store. It then comes back only for
 * what the guest's tables allow by then. */
static void a_store_that_faults_is_repeated_where_it_may_store(void **state)
{
	(void)state;
	assert_true(shadow_fill_for_vmm(&vcpu, PAGE, PF_W));
	assert_true(is_writable());
	entry_set(ENTRY, 0x6000 | PTE_P);
	assert_false(shadow_fill_for_vmm(&vcpu, PAGE, PF_W));
	assert_true(shadow_fill_for_vmm(&vcpu, PAGE, 0));
	entry_set(ENTRY, OUTSIDE | PLAIN);
	assert_false(shadow_fill_for_vmm(&vcpu, PAGE, PF_W));
	assert_true(shadow_fill_for_vmm(&vcpu, PAGE, 0));
	entry_set(ENTRY, 0x6000 | PLAIN);
	the_sibling_makes_of_it(0x7000 | PLAIN);
	assert_true(shadow_fill_for_vmm(&vcpu, PAGE, PF_W));
	assert_true(shadow_fill_for_vmm(&vcpu, PAGE, PF_W));
	expect_frame(0x7000);
	check_isolation();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(a_page_that_the_guest_lacks_is_not_stored_to),
		TEST(a_page_that_is_read_only_by_now_is_not_stored_to),
		TEST(the_page_that_is_there_in_the_end_is_stored_to),
		TEST(a_directory_entry_may_change_as_well),
		TEST(the_protected_page_may_change_to_one_that_the_guest_lacks),
		TEST(an_access_of_the_guest_is_repeated),
		TEST(a_store_that_faults_is_repeated_where_it_may_store),
	};

	return RUN_TESTS(tests);
}
