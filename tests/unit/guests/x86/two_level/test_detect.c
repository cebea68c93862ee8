/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coherence of the page-table cache without the guest's help: what an address space has in its
 * shadow when it is loaded again is what the guest's tables say then, and what they have changed
 * meanwhile, whatever it is, has gone.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "guests/x86/shadow/shadow_guest.h"

#define ALL (PTE_P | PTE_W | PTE_U | PTE_A | PTE_D)
#define DIRECTORY 0x100000u
#define OTHER_DIRECTORY 0x180000u
#define TABLE 0x8000u
#define OTHER_TABLE 0x9000u
/* Two pages in different parts of the table, and one that nobody uses. */
#define PAGE 0x10000u
#define FAR_PAGE 0x3f0000u
#define FRAME 0x20000u
#define FAR_FRAME 0x21000u

struct view_switch view_switch;
struct gandalf_table system_table;

/* Own stand-ins: views_forget_returns() has nothing to forget, and is inline without two levels. */
void views_forget_returns(void)
{
}

static u32 place_of(u32 linear)
{
	return TABLE + linear / PAGE_SIZE * sizeof(u32);
}

/* A guest in whose first directory both pages have been written; the second one is loaded. */
static void guest_with_pages(void)
{
	guest_start(200);
	memset(&view_switch, 0, sizeof(view_switch));
	view_switch.detect = true;
	system_table.flags = 8 * GANDALF_TABLE_CACHE_UNIT;
	x86.shadow.caching = true;
	directories[0] = DIRECTORY;
	directories[1] = OTHER_DIRECTORY;
	entry_set(pde_address(0, 0), TABLE | ALL);
	entry_set(place_of(PAGE), FRAME | ALL);
	entry_set(place_of(FAR_PAGE), FAR_FRAME | ALL);
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = DIRECTORY;
	cr0_load(CR0_PE | CR0_PG);
	assert_int_equal(access_memory(PAGE, PF_U | PF_W), SHADOW_FILLED);
	assert_int_equal(access_memory(FAR_PAGE, PF_U | PF_W), SHADOW_FILLED);
	cr3_load(OTHER_DIRECTORY);
}

static void pages_are(bool page, bool far_page)
{
	cr3_load(DIRECTORY);
	assert_int_equal(tlb_walk(PAGE).present, page);
	assert_int_equal(tlb_walk(FAR_PAGE).present, far_page);
	check_isolation();
	guest_end();
}

static void what_has_not_changed_is_kept(void **state)
{
	(void)state;
	guest_with_pages();
	pages_are(true, true);
}

/* Each change of one page has that page go, and the other one stay. */
static void a_page_that_has_changed_goes(void **state)
{
	static const u32 entries[] = {
		0, FRAME | (ALL & ~PTE_P), FRAME | (ALL & ~PTE_W), FRAME | (ALL & ~PTE_U),
		FRAME | (ALL & ~PTE_A), FRAME | (ALL & ~PTE_D), (FRAME + PAGE_SIZE) | ALL,
		(FRAME + 2 * PAGE_SIZE) | ALL, GUEST_SIZE | ALL,
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(entries); i++) {
		guest_with_pages();
		entry_set(place_of(PAGE), entries[i]);
		pages_are(false, true);
	}
}

/* The directory's entry counts for all pages below it. */
static void a_table_that_has_changed_goes(void **state)
{
	static const u32 entries[] = {
		0, TABLE | (ALL & ~PTE_P), TABLE | (ALL & ~PTE_W), TABLE | (ALL & ~PTE_U),
		TABLE | (ALL & ~PTE_A), OTHER_TABLE | ALL, GUEST_SIZE | ALL,
		ALL | PTE_PS,
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(entries); i++) {
		guest_with_pages();
		entry_set(pde_address(0, 0), entries[i]);
		pages_are(false, false);
	}
}

/* A large page is not compared, and is filled anew. */
static void a_large_page_goes(void **state)
{
	(void)state;
	guest_with_pages();
	entry_set(pde_address(0, 1), ALL | PTE_PS);
	cr3_load(DIRECTORY);
	assert_int_equal(access_memory(LARGE_PAGE_SIZE, PF_U | PF_W), SHADOW_FILLED);
	cr3_load(OTHER_DIRECTORY);
	cr3_load(DIRECTORY);
	assert_false(tlb_walk(LARGE_PAGE_SIZE).present);
	pages_are(true, true);
}

/* A load of the directory that is loaded is a flush, too. */
static void the_present_space_is_compared(void **state)
{
	(void)state;
	guest_with_pages();
	cr3_load(DIRECTORY);
	entry_set(place_of(FAR_PAGE), 0);
	pages_are(true, false);
}

/* What the guest's flush says of a space that is not loaded is not needed, and not looked at. */
static void a_flush_of_another_space_is_none(void **state)
{
	(void)state;
	guest_with_pages();
	shadow_flush(&x86, DIRECTORY, PAGE, PAGE + PAGE_SIZE);
	pages_are(true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_not_changed_is_kept),
		cmocka_unit_test(a_page_that_has_changed_goes),
		cmocka_unit_test(a_table_that_has_changed_goes),
		cmocka_unit_test(a_large_page_goes),
		cmocka_unit_test(the_present_space_is_compared),
		cmocka_unit_test(a_flush_of_another_space_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
