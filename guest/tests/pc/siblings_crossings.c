/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of pc-siblings.elf in which the second vCPU acts at a chosen instruction of what the VMM
 * does for the first one; its command line is "crossings" then, or "crossings long". In a round the
 * first vCPU has the VMM do an operation, and the plug-in measure/crossings.c sets a word at the
 * instruction whose turn it is. The second vCPU sees it and takes the page of the operation away as
 * Linux does. Each round is at the next instruction, until the operation has no more. What the
 * operation came to must be what it comes to before the page is replaced, or behind that.
 */
#include "siblings.h"

#include "print.h"

#define LABEL_MARK 0x63726f73U
#define ATTACKED 0x44000000U
#define ALL (PAGE_P | PAGE_W | PAGE_A | PAGE_D)
#define FIRST 0x11111111U
#define OTHER 0x22222222U
#define WRITTEN 0x44444444U
#define POISON 0x66666666U

enum { FRAME_FIRST, FRAME_OTHER };

/* measure/crossings.c: mark, operation, the instruction of the VMM, and the word that it sets. */
struct {
	uint32_t mark, operation, at;
	volatile uint32_t go;
} crossing_label;

/* The operation, between two addresses that the plug-in knows. */
void crossing_begin(void);
void (*crossing_operation)(void);
__asm__("	.text\n"
	"	.globl	crossing_begin, crossing_end\n"
	"crossing_begin:\n"
	"	call	*crossing_operation\n"
	"crossing_end:\n"
	"	ret\n");

static uint32_t table[1024] __attribute__((aligned(PAGE_SIZE)));
static volatile uint32_t result;
static volatile uint32_t acted, flushed, came_back, left;
static volatile bool ends;

static volatile uint32_t *word_of(uint32_t frame)
{
	return (volatile uint32_t *)scratch_frame[frame];
}

static uint32_t entry_for(uint32_t frame, uint32_t flags)
{
	return (uint32_t)scratch_frame[frame] | flags;
}

/* --- The second vCPU --- */

static void flush_done(void)
{
	invlpg(ATTACKED);
	flushed++;
}

/* Takes the page away, and gives the other one when the first vCPU has left it. */
static void page_replace(void)
{
	volatile uint32_t *entry = &table[0];
	uint32_t before = flushed;

	__atomic_exchange_n(entry, 0, __ATOMIC_SEQ_CST);
	pages_flush(page_directory, ATTACKED, ATTACKED + PAGE_SIZE);
	ipi_send(1, IPI_FLUSH);
	while (flushed == before)
		__asm__ volatile("pause");
	came_back = *entry;
	left = *word_of(FRAME_FIRST);
	*word_of(FRAME_FIRST) = POISON;
	*entry = entry_for(FRAME_OTHER, ALL);
}

static void pages_replace(void)
{
	while (!ends) {
		if (crossing_label.go && !acted) {
			page_replace();
			acted = 1;
		}
		__asm__ volatile("pause");
	}
}

/* --- The first vCPU --- */

static void page_read(void)
{
	uint32_t value = 0;

	TRAP_PROVOKE("movl %1, %0", : "+r"(value) : "m"(*(volatile uint32_t *)ATTACKED));
	result = value;
}

static void page_write(void)
{
	TRAP_PROVOKE("movl %1, %0", : "=m"(*(volatile uint32_t *)ATTACKED) : "r"(WRITTEN));
}

static void page_invalidate(void)
{
	invlpg(ATTACKED);
}

static void directory_load(void)
{
	cr3_write((uint32_t)page_directory);
}

static void page_flush(void)
{
	pages_flush(page_directory, ATTACKED, ATTACKED + PAGE_SIZE);
}

static void round_prepare(uint32_t flags, bool use)
{
	crossing_label.go = acted = 0;
	came_back = left = 0;
	*word_of(FRAME_FIRST) = FIRST;
	*word_of(FRAME_OTHER) = OTHER;
	*(volatile uint32_t *)&table[0] = entry_for(FRAME_FIRST, flags);
	pages_flush(page_directory, ATTACKED, ATTACKED + PAGE_SIZE);
	if (use)
		page_read();
	trap.count = 0;
	result = 0;
}

/* What the operation left, if the page was replaced in it. */
static void replaced_expect(bool writes)
{
	bool first = left == WRITTEN, other;

	expect_equal(came_back, 0);
	expect(left == FIRST || first);
	expect_equal(*word_of(FRAME_FIRST), POISON);
	other = *word_of(FRAME_OTHER) == WRITTEN;
	expect(other || *word_of(FRAME_OTHER) == OTHER);
	/* A write without a fault was made once. */
	expect_equal(first + other, writes && trap.count == 0);
	expect_equal(*(volatile uint32_t *)&table[0], entry_for(FRAME_OTHER, ALL));
	page_read();
	expect_equal(trap.count, 0);
	expect_equal(result, other ? WRITTEN : OTHER);
}

static void result_expect(bool reads)
{
	if (trap.count != 0) {
		/* The page was away for a while: before that and behind it there is no fault. */
		expect(acted);
		expect_equal(trap.vector, VECTOR_PF);
		expect_equal(trap.cr2, ATTACKED);
	} else if (reads) {
		expect(result == FIRST || (acted && result == OTHER));
	}
}

/* One round. Returns whether the second vCPU acted. */
static bool round_take(uint32_t flags, bool use)
{
	uint32_t interrupts = ipi_count[0][IPI_FLUSH];

	round_prepare(flags, use);
	crossing_begin();
	while (crossing_label.go && !acted)
		__asm__ volatile("pause");
	expect_equal(ipi_count[0][IPI_FLUSH] - interrupts, acted);
	result_expect(crossing_operation == page_read);
	if (acted)
		replaced_expect(crossing_operation == page_write);
	return acted;
}

static void crossings(uint32_t number, void (*operation)(void), uint32_t flags, bool use)
{
	uint32_t at;

	crossing_operation = operation;
	for (uint32_t i = 0; i < 3; i++)
		expect(!round_take(flags, use));
	crossing_label.operation = number;
	for (at = 1; crossing_label.at = at, round_take(flags, use); at++)
		;
	crossing_label.operation = crossing_label.at = 0;
	print("# operation %u rounds %u\n", number, at);
}

static void test_read(void)
{
	crossings(1, page_read, PAGE_P | PAGE_W, false);
}

static void test_write(void)
{
	crossings(2, page_write, PAGE_P | PAGE_W, false);
}

static void test_write_behind_read(void)
{
	crossings(3, page_write, PAGE_P | PAGE_W, true);
}

static void test_invlpg(void)
{
	crossings(4, page_invalidate, ALL, true);
}

static void test_load(void)
{
	crossings(5, directory_load, ALL, true);
}

static void test_flush(void)
{
	crossings(6, page_flush, ALL, true);
}

static void test_begin(void)
{
	page_directory[ATTACKED / LARGE_PAGE_SIZE] = (uint32_t)table | ALL;
	crossing_label.mark = LABEL_MARK;
	flush_hook = flush_done;
	sibling_begin(pages_replace);
}

static void test_end(void)
{
	ends = true;
	expect(sibling_ended());
}

static const struct tap_test tests[] = {
	{ "begin", test_begin },
	{ "read", test_read },
	{ "write", test_write },
	{ "write-behind-read", test_write_behind_read },
	{ "invlpg", test_invlpg },
	{ "flush", test_flush },
	{ "end", test_end },
};
static const struct tap_test long_tests[] = {
	{ "begin", test_begin },
	{ "load-of-cr3", test_load },
	{ "end", test_end },
};

const struct tap_group group_crossings = TAP_GROUP(tests);
const struct tap_group group_long_crossings = TAP_GROUP(long_tests);
