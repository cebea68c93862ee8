/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that serves page faults of its processes. Whether a page is filled before the process
 * goes on or behind a further fault, its rights must be those of the kernel's tables.
 */
#include "views.h"

/* Most tests are about this page; those behind it are in the same group of 16, which is filled
 * together. */
#define PAGE 16
#define KERNELS (PAGE_P | PAGE_W | PAGE_A | PAGE_D)
#define READ_ONLY (PAGE_P | PAGE_U | PAGE_A)
#define WRITABLE (PAGE_P | PAGE_U | PAGE_A | PAGE_W)
#define NO_PAGE 1023
/* A frame that no guest of 16 MiB has; the VMM is there where the machine has 64 MiB. */
#define FOREIGN_FRAME 0x3f00000

static volatile uint32_t *word(uint32_t frame)
{
	return (uint32_t *)scratch_frame[frame];
}

/* Frame n has 100 + n, and no page is mapped but the first, so that the VMM has a table. */
static void begin(void)
{
	for (uint32_t space = 0; space < 2; space++) {
		for (uint32_t page = 0; page < 2 * PAGE; page++)
			if (view_scratch[space][page] != 0)
				view_map(space, page, NULL, 0);
		view_map(space, NO_PAGE, NULL, 0);
		view_map(space, 0, scratch_frame[0], WRITABLE);
	}
	for (uint32_t frame = 0; frame < 4; frame++)
		*word(frame) = 100 + frame;
	expect_equal(view_run(user_look, 0, NULL), 0);
	view_read(100);
}

static void serve_group(void)
{
	view_map(0, PAGE + 1, scratch_frame[1], WRITABLE);
	view_map(0, PAGE + 2, scratch_frame[2], KERNELS);
	view_map(0, PAGE + 3, scratch_frame[3], READ_ONLY | PAGE_D);
	view_map(0, PAGE, scratch_frame[0], READ_ONLY);
}

static void test_rights(void)
{
	begin();
	expect_equal(view_run(user_look, PAGE, serve_group), 1);
	view_read(100);
	view_run(user_access, PAGE, NULL);
	view_fault(FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	expect_equal(view_run(user_access, PAGE + 1, NULL), 0);
	view_read(101);
	expect_equal(view_scratch[0][PAGE + 1] & PAGE_D, PAGE_D);
	view_run(user_look, PAGE + 2, NULL);
	view_fault(FAULT_USER | FAULT_PRESENT);
	expect_equal(view_run(user_look, PAGE + 3, NULL), 0);
	view_read(103);
	view_run(user_access, PAGE + 3, NULL);
	view_fault(FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	expect_equal(*word(0), 100);
	expect_equal(*word(1), 102);
	expect_equal(*word(2), 102);
	expect_equal(*word(3), 103);
}

static void serve_kernels(void)
{
	view_map(0, PAGE, scratch_frame[1], KERNELS);
}

/* Its kernel has mapped the page for itself: it faults there once more. */
static void test_kernel_page(void)
{
	begin();
	expect_equal(view_run(user_look, PAGE, serve_kernels), 2);
	view_fault(FAULT_USER | FAULT_PRESENT);
	view_run(user_access, PAGE, serve_kernels);
	view_fault(FAULT_USER | FAULT_PRESENT);
	expect_equal(*word(1), 101);
}

static void serve_clean(void)
{
	view_map(0, PAGE, scratch_frame[1], WRITABLE);
}

static void serve_dirty(void)
{
	view_map(0, PAGE, scratch_frame[1], WRITABLE | PAGE_D);
}

static void serve_unused(void)
{
	view_map(0, PAGE, scratch_frame[1], PAGE_P | PAGE_W | PAGE_U);
}

/* A store is seen in the kernel's table, even if a read has filled the page. */
static void test_dirty(void)
{
	begin();
	expect_equal(view_run(user_look, PAGE, serve_clean), 1);
	view_read(101);
	expect_equal(view_scratch[0][PAGE] & PAGE_D, 0);
	expect_equal(view_run(user_access, PAGE, NULL), 0);
	expect_equal(view_scratch[0][PAGE] & PAGE_D, PAGE_D);
	begin();
	expect_equal(view_run(user_access, PAGE, serve_dirty), 1);
	view_read(101);
	expect_equal(*word(1), 102);
	begin();
	expect_equal(view_run(user_look, PAGE, serve_unused), 1);
	view_read(101);
	expect_equal(view_scratch[0][PAGE] & (PAGE_A | PAGE_D), PAGE_A);
}

static uint32_t *entry_of_table(void)
{
	return &view_directory[0][SCRATCH / LARGE_PAGE_SIZE];
}

static void serve_below_kernels(void)
{
	serve_dirty();
	*(volatile uint32_t *)entry_of_table() &= ~PAGE_U;
}

static void serve_below_read_only(void)
{
	serve_dirty();
	*(volatile uint32_t *)entry_of_table() &= ~PAGE_W;
}

static void serve_below_nothing(void)
{
	serve_dirty();
	*(volatile uint32_t *)entry_of_table() &= ~PAGE_P;
}

static void directory_test(void (*serve)(void), const char *code, uint32_t error)
{
	uint32_t before = *entry_of_table();

	begin();
	view_run(code, PAGE, serve);
	view_fault(error);
	*entry_of_table() = before;
	view_flush(0, 0, NO_PAGE + 1);
	expect_equal(*word(1), 101);
}

/* Both levels of the kernel's tables decide. */
static void test_directory(void)
{
	directory_test(serve_below_kernels, user_look, FAULT_USER | FAULT_PRESENT);
	directory_test(serve_below_read_only, user_access,
		       FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	directory_test(serve_below_nothing, user_look, FAULT_USER);
}

static void serve_twice(void)
{
	view_map(0, PAGE, scratch_frame[1], WRITABLE | PAGE_D);
	*(volatile uint32_t *)(SCRATCH + PAGE * PAGE_SIZE) = 7;
	view_map(0, PAGE, scratch_frame[2], READ_ONLY);
}

static void serve_in_vain(void)
{
	serve_dirty();
	view_map(0, PAGE, NULL, 0);
}

/* What counts is what the tables have when the kernel returns. */
static void test_last_word(void)
{
	begin();
	expect_equal(view_run(user_look, PAGE, serve_twice), 1);
	view_read(102);
	view_run(user_access, PAGE, NULL);
	view_fault(FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	expect_equal(*word(1), 7);
	begin();
	expect_equal(view_run(user_look, PAGE, serve_in_vain), 2);
	view_fault(FAULT_USER);
}

static void serve_elsewhere(void)
{
	view_map(0, PAGE, scratch_frame[1], WRITABLE | PAGE_D);
	view_load(1);
}

static void serve_both(void)
{
	view_map(1, PAGE, scratch_frame[2], READ_ONLY);
	serve_elsewhere();
}

/* The kernel returns to another process than the one whose fault it has served. */
static void test_spaces(void)
{
	begin();
	expect_equal(view_run(user_look, PAGE, serve_elsewhere), 2);
	view_fault(FAULT_USER);
	view_load(0);
	expect_equal(view_run(user_look, PAGE, serve_both), 0);
	view_read(101);
	begin();
	expect_equal(view_run(user_look, PAGE, serve_both), 1);
	view_read(102);
	view_run(user_access, PAGE, NULL);
	view_fault(FAULT_USER | FAULT_WRITE | FAULT_PRESENT);
	view_load(0);
	expect_equal(view_run(user_access, PAGE, NULL), 0);
	view_read(101);
}

static void serve_last(void)
{
	view_map(0, NO_PAGE, scratch_frame[3], READ_ONLY);
}

static void serve_before(void)
{
	view_map(0, PAGE - 1, scratch_frame[2], KERNELS);
	serve_group();
}

/* Groups end where they should: at the end of a table, and between two groups. */
static void test_borders(void)
{
	begin();
	expect_equal(view_run(user_look, NO_PAGE, serve_last), 1);
	view_read(103);
	begin();
	expect_equal(view_run(user_look, PAGE, serve_before), 1);
	view_run(user_look, PAGE - 1, NULL);
	view_fault(FAULT_USER | FAULT_PRESENT);
}

static void serve_foreign(void)
{
	view_map(0, PAGE, (void *)(FOREIGN_FRAME + KERNEL_HALF), READ_ONLY);
	view_map(0, PAGE + 1, (void *)(FOREIGN_FRAME + KERNEL_HALF), WRITABLE | PAGE_D);
}

/* Where the guest has no memory there are ones, and not another's memory. */
static void test_foreign(void)
{
	if (environment == NATIVE) {
		tap_skip("all memory is its own");
		return;
	}
	begin();
	expect_equal(view_run(user_look, PAGE, serve_foreign), 1);
	view_read(UINT32_MAX);
	expect_equal(view_run(user_look, PAGE + 1, NULL), 0);
	view_read(UINT32_MAX);
}

static const struct tap_test ahead_tests[] = {
	{ "ahead-rights", test_rights },
	{ "ahead-kernel-page", test_kernel_page },
	{ "ahead-dirty", test_dirty },
	{ "ahead-directory", test_directory },
	{ "ahead-last-word", test_last_word },
	{ "ahead-spaces", test_spaces },
	{ "ahead-borders", test_borders },
	{ "ahead-foreign", test_foreign },
};
const struct tap_group group_ahead = TAP_GROUP(ahead_tests);
