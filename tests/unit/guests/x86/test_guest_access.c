/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes the VMM reads and writes for a guest: those below its own addresses, and
 * what the guest's kernel itself may write.
 */
#include "unit.h"

#include "guests/x86/x86.h"
#include "guests/x86/guest_access.h"
#include "fake/vmm.h"

#define PAGE 0x00403000u

static struct x86 x86;
/* The last copy. */
static struct {
	uintptr_t to, from;
	u32 size;
} copied;
static unsigned copies;
static u32 unreadable; /* bytes at the end of a copy that are not there */
/* What shadow_make_writable() was asked. */
static u32 linears[4];
static unsigned questions;
static u32 read_only; /* the page */

void processor_sleep(void)
{
	fail();
}

/*
 * Own stand-ins: entry_copy() and shadow_make_writable() have no memory behind them, and write
 * down what is asked.
 */
bool shadow_make_writable(struct x86 *which, u32 linear)
{
	assert_ptr_equal(which, &x86);
	assert_true(questions < ARRAY_SIZE(linears));
	assert_int_equal(copies, 0);
	linears[questions++] = linear;
	return (linear & PTE_FRAME) != read_only;
}

u32 entry_copy(void *to, const void *from, u32 size)
{
	copied.to = (uintptr_t)to;
	copied.from = (uintptr_t)from;
	copied.size = size;
	copies++;
	return minimum(unreadable, size);
}

static int start(void **state)
{
	(void)state;
	vmm_reset();
	memset(&x86, 0, sizeof(x86));
	memset(empty_directory, 0, sizeof(empty_directory));
	vcpu.x86 = &x86;
	copies = questions = 0;
	unreadable = 0;
	read_only = 1;
	return 0;
}

static bool reads(u32 linear, u32 size)
{
	static u8 bytes[16];
	bool done;

	start(NULL);
	done = guest_read(linear, bytes, size);
	assert_int_equal(copies, done);
	if (done) {
		assert_int_equal(copied.to, (uintptr_t)bytes);
		assert_int_equal(copied.from, linear);
		assert_int_equal(copied.size, size);
	}
	return done;
}

static void only_what_lies_below_the_vmm_is_read(void **state)
{
	(void)state;
	assert_true(reads(0, 1) && reads(PAGE, 16) && reads(PAGE + 4093, 8));
	assert_true(reads(GANDALF_BASE - 1, 1) && reads(GANDALF_BASE - 4, 4));
	assert_true(reads(0, GANDALF_BASE));
	assert_false(reads(0, GANDALF_BASE + 1));
	assert_false(reads(GANDALF_BASE - 4, 5));
	assert_false(reads(GANDALF_BASE - 1, 2));
	assert_false(reads(GANDALF_BASE, 0));
	assert_false(reads(GANDALF_BASE, 1));
	assert_false(reads(0xffffffff, 1));
	/* Ranges that go round. */
	assert_false(reads(0xffffffff, 2));
	assert_false(reads(PAGE, 0xffffffff));
	assert_false(reads(4, 0xfffffffc));
}

static void a_byte_that_is_not_there_fails_it_all(void **state)
{
	u8 bytes[8] = { 0 };

	(void)state;
	for (u32 missing = 1; missing <= 8; missing++) {
		start(NULL);
		unreadable = missing;
		assert_false(guest_read(PAGE, bytes, 8));
		copies = 0;
		assert_false(guest_write(PAGE, bytes, 8));
		assert_int_equal(copies, 1);
	}
}

static bool writes(u32 linear, u32 size)
{
	static const u8 bytes[16];
	bool done = guest_write(linear, bytes, size);

	assert_int_equal(copies, done);
	if (done) {
		assert_int_equal(copied.to, linear);
		assert_int_equal(copied.from, (uintptr_t)bytes);
		assert_int_equal(copied.size, size);
	}
	return done;
}

static void only_what_lies_below_the_vmm_is_written(void **state)
{
	const struct {
		u32 linear, size;
	} bad[] = {
		{ GANDALF_BASE, 1 },     { GANDALF_BASE - 1, 2 }, { GANDALF_BASE - 4, 5 },
		{ 0xffffffff, 1 },       { 0xffffffff, 2 },       { 0xfffffffe, 8 },
		{ GANDALF_BASE + 64, 4 }, { 0xfffffffc, 4 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		start(NULL);
		assert_false(writes(bad[i].linear, bad[i].size));
		/* The VMM's pages are none that could become writable. */
		assert_int_equal(questions, 0);
	}
	start(NULL);
	assert_true(writes(GANDALF_BASE - 1, 1));
	start(NULL);
	assert_true(writes(GANDALF_BASE - 8, 8));
	start(NULL);
	assert_true(writes(0, 1));
}

/* Every page that a write touches is asked for, and before anything is written. */
static void pages_are_asked_for_before_a_write(void **state)
{
	(void)state;
	assert_true(writes(PAGE + 4, 4));
	assert_int_equal(questions, 1);
	assert_int_equal(linears[0] & PTE_FRAME, PAGE);
	start(NULL);
	assert_true(writes(PAGE + 4092, 4));
	assert_int_equal(questions, 1);
	for (u32 inside = 1; inside < 8; inside++) {
		start(NULL);
		assert_true(writes(PAGE + 4096 - inside, 8));
		assert_int_equal(questions, 2);
		assert_int_equal(linears[0] & PTE_FRAME, PAGE);
		assert_int_equal(linears[1] & PTE_FRAME, PAGE + 4096);
	}
}

static void what_the_kernel_may_not_write_the_vmm_does_not_either(void **state)
{
	(void)state;
	read_only = PAGE;
	assert_false(writes(PAGE, 1));
	start(NULL);
	read_only = PAGE;
	assert_false(writes(PAGE + 4095, 2));
	for (u32 inside = 1; inside < 8; inside++) {
		start(NULL);
		read_only = PAGE + 4096;
		assert_false(writes(PAGE + 4096 - inside, 8));
	}
	start(NULL);
	read_only = PAGE + 4096;
	assert_true(writes(PAGE + 4088, 8));
}

/* A page that the shadow has writable is not asked for, the one behind it is. */
static void a_writable_page_costs_no_question(void **state)
{
	const u32 large = 1u << LARGE_PAGE_SHIFT;

	(void)state;
	empty_directory[PAGE >> LARGE_PAGE_SHIFT] = PTE_P | PTE_PS | PTE_W;
	assert_true(writes(PAGE, 4));
	assert_int_equal(questions, 0);
	copies = 0;
	read_only = 2 * large;
	assert_false(writes(2 * large - 4, 8));
	assert_int_equal(questions, 1);
	assert_int_equal(linears[0] & PTE_FRAME, 2 * large);
	/* Present is not writable. */
	start(NULL);
	empty_directory[PAGE >> LARGE_PAGE_SHIFT] = PTE_P | PTE_PS;
	read_only = PAGE;
	assert_false(writes(PAGE, 4));
}

static u32 fetches(u32 eip, u32 size)
{
	static u8 bytes[16];
	u32 count;

	copies = 0;
	frame.eip = eip;
	count = guest_fetch(&vcpu, bytes, size);
	if (copies != 0) {
		assert_int_equal(copied.to, (uintptr_t)bytes);
		assert_int_equal(copied.from, eip);
		assert_true(eip + (u64)copied.size <= GANDALF_BASE);
	}
	return count;
}

static void instructions_end_where_the_vmm_begins(void **state)
{
	(void)state;
	assert_int_equal(fetches(PAGE, 15), 15);
	assert_int_equal(fetches(GANDALF_BASE - 15, 15), 15);
	assert_int_equal(fetches(GANDALF_BASE - 14, 15), 14);
	assert_int_equal(fetches(GANDALF_BASE - 1, 15), 1);
	assert_int_equal(fetches(GANDALF_BASE, 15), 0);
	assert_int_equal(copies, 0);
	assert_int_equal(fetches(0xffffffff, 15), 0);
	assert_int_equal(copies, 0);
	/* Or where a page is missing. */
	for (unreadable = 0; unreadable <= 15; unreadable++)
		assert_int_equal(fetches(PAGE, 15), 15 - unreadable);
	unreadable = 15;
	assert_int_equal(fetches(PAGE, 15), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_lies_below_the_vmm_is_read),
		TEST(a_byte_that_is_not_there_fails_it_all),
		TEST(only_what_lies_below_the_vmm_is_written),
		TEST(pages_are_asked_for_before_a_write),
		TEST(what_the_kernel_may_not_write_the_vmm_does_not_either),
		TEST(a_writable_page_costs_no_question),
		TEST(instructions_end_where_the_vmm_begins),
	};

	return RUN_TESTS(tests);
}
