/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces that take turns: what the VMM keeps of one must be right when it comes back. From
 * the first FLUSH on it keeps tables across CR3 loads; so this comes behind the other tests of
 * paging.
 */
#include <string.h>

#include "machine.h"
#include "paging.h"
#include "suite.h"

static uint32_t other_directory[1024] __attribute__((aligned(4096)));
static uint32_t other_table[1024] __attribute__((aligned(4096)));

static void spaces_begin(void)
{
	scratch_begin();
	memset(other_table, 0, sizeof(other_table));
	memcpy(other_directory, page_directory, sizeof(other_directory));
	other_directory[SCRATCH / LARGE_PAGE_SIZE] = (uint32_t)other_table | READ_WRITE | PAGE_U;
	scratch_map(0, scratch_frame[0], READ_WRITE);
	other_table[0] = (uint32_t)scratch_frame[1] | READ_WRITE;
}

static void test_spaces(void)
{
	spaces_begin();
	for (uint32_t i = 0; i < 20; i++) {
		cr3_write((uint32_t)other_directory);
		expect_equal(*page, 0x1001);
		expect_equal(cr3_read(), (uint32_t)other_directory);
		cr3_write((uint32_t)page_directory);
		expect_equal(*page, 0x1000);
	}
}

static void test_spaces_changed(void)
{
	volatile uint32_t *const other = other_table;

	spaces_begin();
	cr3_write((uint32_t)other_directory);
	expect_equal(*page, 0x1001);
	cr3_write((uint32_t)page_directory);
	/* In the one that is not loaded. */
	other[0] = (uint32_t)scratch_frame[2] | READ_WRITE;
	pages_flush(other_directory, SCRATCH, SCRATCH + PAGE_SIZE);
	cr3_write((uint32_t)other_directory);
	expect_equal(*page, 0x1002);
	cr3_write((uint32_t)page_directory);
	other[0] = 0;
	pages_flush(other_directory, 0, 0xffffffff);
	cr3_write((uint32_t)other_directory);
	page_try_read(page);
	fault_check(page, 0);
	cr3_write((uint32_t)page_directory);
	expect_equal(*page, 0x1000);
}

/* More of them than any cache holds. */
static void test_spaces_many(void)
{
	static uint32_t directories[24][1024] __attribute__((aligned(4096)));
	static uint32_t tables[24][1024] __attribute__((aligned(4096)));

	scratch_begin();
	for (uint32_t i = 0; i < 24; i++) {
		memcpy(directories[i], page_directory, sizeof(directories[i]));
		directories[i][SCRATCH / LARGE_PAGE_SIZE] = (uint32_t)tables[i] | READ_WRITE;
		tables[i][0] = (uint32_t)scratch_frame[i % 4] | READ_WRITE;
	}
	for (uint32_t i = 0; i < 24 * 3; i++) {
		cr3_write((uint32_t)directories[i * 7 % 24]);
		expect_equal(*page, 0x1000 + i * 7 % 24 % 4);
	}
	cr3_write((uint32_t)page_directory);
}

/* What Linux does at exec and exit: a directory's frame gets another use. */
static void test_spaces_reused(void)
{
	volatile uint32_t *const other = other_table;

	spaces_begin();
	cr3_write((uint32_t)other_directory);
	expect_equal(*page, 0x1001);
	cr3_write((uint32_t)page_directory);
	pages_flush(other_directory, 0, 0xffffffff);
	other[0] = (uint32_t)scratch_frame[3] | READ_WRITE;
	other[1] = (uint32_t)scratch_frame[2] | READ_WRITE;
	cr3_write((uint32_t)other_directory);
	expect_equal(*page, 0x1003);
	expect_equal(*next, 0x1002);
	cr3_write((uint32_t)page_directory);
}

static const struct tap_test spaces_tests[] = {
	{ "paging-spaces", test_spaces },
	{ "paging-spaces-changed", test_spaces_changed },
	{ "paging-spaces-many", test_spaces_many },
	{ "paging-spaces-reused", test_spaces_reused },
};
const struct tap_group group_spaces = TAP_GROUP(spaces_tests);
