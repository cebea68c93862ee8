/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks on shadow page tables: one vCPU changes the tables that the other one's accesses have the
 * VMM walk. Whatever order the VMM sees that in, an access must find a page that was there, and
 * none once Linux's way of taking a page away has been gone to its end: clear the entry, flush,
 * interrupt the other vCPU, whose handler invalidates, and wait for it.
 */
#include "siblings.h"

#define ATTACKED 0x44000000U
#define DIRECTORY_ENTRY (ATTACKED / LARGE_PAGE_SIZE)
#define ALL (PAGE_P | PAGE_W | PAGE_A | PAGE_D)
/* Guest-physical addresses behind the guest's 16 MiB, as far as a machine has memory. */
#define OUTSIDE 0x1000000U
#define OUTSIDE_PAGES 0x1e000U
#define NOTHING 0xffffffffU /* what a read there finds */
/* What the frames hold; `poison` in one that nobody may see any more. */
#define FIRST 0x11111111U
#define OTHER 0x22222222U
#define KEPT 0x33333333U
#define WRITTEN 0x44444444U
#define POISON 0x66666666U

enum { FRAME_FIRST, FRAME_OTHER, FRAME_READ_ONLY, FRAME_UNUSED };

static uint32_t tables[2][1024] __attribute__((aligned(PAGE_SIZE)));
/* Accesses that found what they must not; entries that came back behind a locked exchange. */
static volatile uint32_t wrong_values, wrong_value, came_back, faults;

static volatile uint32_t *word_of(uint32_t frame)
{
	return (volatile uint32_t *)scratch_frame[frame];
}

static volatile uint32_t *entry_of(uint32_t table)
{
	return &tables[table][0];
}

static uint32_t entry_for(uint32_t frame, uint32_t flags)
{
	return (uint32_t)scratch_frame[frame] | flags;
}

static void directory_set(uint32_t entry)
{
	*(volatile uint32_t *)&page_directory[DIRECTORY_ENTRY] = entry;
}

static uint32_t outside(void)
{
	return OUTSIDE + random_next() % OUTSIDE_PAGES * PAGE_SIZE;
}

static void tables_begin(void)
{
	*word_of(FRAME_FIRST) = FIRST;
	*word_of(FRAME_OTHER) = OTHER;
	for (uint32_t i = 0; i < PAGE_SIZE / sizeof(uint32_t); i++)
		word_of(FRAME_READ_ONLY)[i] = word_of(FRAME_UNUSED)[i] = KEPT;
	*entry_of(0) = entry_for(FRAME_FIRST, ALL);
	*entry_of(1) = entry_for(FRAME_OTHER, ALL);
	directory_set((uint32_t)tables[0] | ALL);
	wrong_values = came_back = faults = 0;
	flush_hook = NULL;
}

static void tables_end(void)
{
	directory_set(0);
	pages_flush(page_directory, ATTACKED, ATTACKED + LARGE_PAGE_SIZE);
	if (!expect_equal(wrong_values, 0))
		expect_equal(wrong_value, FIRST);
	expect_equal(came_back, 0);
	for (uint32_t i = 0; i < PAGE_SIZE / sizeof(uint32_t); i++)
		if (!expect_equal(word_of(FRAME_READ_ONLY)[i], KEPT) ||
		    !expect_equal(word_of(FRAME_UNUSED)[i], KEPT))
			return;
}

/* A locked exchange ends an entry: the VMM may set no bit in it any more. */
static void entry_end(void)
{
	volatile uint32_t *entry = entry_of(0);

	__atomic_exchange_n(entry, 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < 64; i++)
		if (*entry != 0) {
			came_back++;
			return;
		}
}

/* Leaves what is there for a while, so that the other vCPU's access can be made with it. */
static void linger(void)
{
	for (uint32_t i = random_next() % 64; i > 0; i--)
		__asm__ volatile("pause");
}

static void value_note(uint32_t value)
{
	wrong_values++;
	wrong_value = value;
}

/* --- Reads --- */

static void entries_change(void)
{
	while (attack_goes_on()) {
		did[0]++;
		switch (random_next() % 9) {
		case 0: *entry_of(0) = entry_for(FRAME_FIRST, PAGE_P | PAGE_W); break;
		case 1: *entry_of(0) = entry_for(FRAME_FIRST, PAGE_P); break;
		case 2: *entry_of(0) = entry_for(FRAME_OTHER, ALL); break;
		case 3: *entry_of(0) = outside() | PAGE_P | (random_next() & 0xfff); break;
		case 4: entry_end(); break;
		case 5: directory_set((uint32_t)tables[random_next() % 2] | PAGE_P | PAGE_W); break;
		case 6: directory_set(outside() | PAGE_P | PAGE_W); break;
		case 7: directory_set(OUTSIDE | PAGE_P | PAGE_W | PAGE_PS); break;
		default: pages_flush(page_directory, ATTACKED, ATTACKED + PAGE_SIZE);
		}
		linger();
	}
}

static void page_read(void)
{
	uint32_t value = NOTHING;

	TRAP_PROVOKE("movl %1, %0", : "+r"(value) : "m"(*(volatile uint32_t *)ATTACKED));
	if (trap.count == 0) {
		if (value != FIRST && value != OTHER && value != NOTHING)
			value_note(value);
	} else {
		faults++;
		if (trap.vector != VECTOR_PF || trap.cr2 != ATTACKED)
			value_note(trap.vector);
	}
}

static void pages_read(void)
{
	for (; attack_goes_on(); did[1]++) {
		page_read();
		if (random_next() % 4 == 0)
			invlpg(ATTACKED);
		else if (random_next() % 16 == 0)
			cr3_write((uint32_t)page_directory);
	}
}

static void test_reads_while_tables_change(void)
{
	tables_begin();
	attack_together(entries_change, pages_read, 400);
	expect(faults > 0);
	expect(faults < did[1]);
	tables_end();
}

/* --- Writes --- */

static void rights_change(void)
{
	while (attack_goes_on()) {
		did[0]++;
		switch (random_next() % 6) {
		case 0: *entry_of(0) = entry_for(FRAME_FIRST, PAGE_P | PAGE_W); break;
		case 1: *entry_of(0) = entry_for(FRAME_READ_ONLY, PAGE_P); break;
		case 2: *entry_of(0) = entry_for(FRAME_OTHER, PAGE_P | PAGE_W | PAGE_A); break;
		case 3: directory_set((uint32_t)tables[0] | PAGE_P); break;
		case 4: directory_set((uint32_t)tables[0] | PAGE_P | PAGE_W); break;
		default: entry_end();
		}
		linger();
	}
}

static void pages_write(void)
{
	for (; attack_goes_on(); did[1]++) {
		TRAP_PROVOKE("movl %1, %0",
			     : "=m"(*(volatile uint32_t *)ATTACKED) : "r"(WRITTEN));
		if (trap.count != 0 && (trap.vector != VECTOR_PF || trap.cr2 != ATTACKED))
			value_note(trap.vector);
		invlpg(ATTACKED);
	}
}

static void test_writes_while_rights_change(void)
{
	tables_begin();
	attack_together(rights_change, pages_write, 400);
	expect_equal(*word_of(FRAME_FIRST), WRITTEN);
	tables_end();
}

/* --- Linux's way of taking a page away --- */

static volatile uint32_t flushes_wanted, flushes_done;

static void flush_done(void)
{
	invlpg(ATTACKED);
	flushes_done = flushes_wanted;
}

/* Gives the other vCPU another page, and returns when it has left the one before. */
static void page_replace(uint32_t entry)
{
	__atomic_exchange_n(entry_of(0), 0, __ATOMIC_SEQ_CST);
	pages_flush(page_directory, ATTACKED, ATTACKED + PAGE_SIZE);
	flushes_wanted++;
	ipi_send(2, IPI_FLUSH);
	while (flushes_done != flushes_wanted && attack_goes_on())
		;
	if (*entry_of(0) != 0)
		came_back++;
	*entry_of(0) = entry;
}

static void pages_replace(void)
{
	static const uint32_t values[] = { FIRST, OTHER };

	for (uint32_t now = 0; attack_goes_on(); now = !now) {
		*word_of(!now) = values[!now];
		page_replace(entry_for(!now, ALL));
		if (flushes_done != flushes_wanted)
			return;
		*word_of(now) = POISON;
		did[0]++;
		linger();
	}
}

/* Nothing but the other vCPU's interrupts has this one look at the tables anew. */
static void pages_watch(void)
{
	for (; attack_goes_on(); did[1]++)
		page_read();
}

static void test_a_page_that_was_taken_away_is_gone(void)
{
	tables_begin();
	flush_hook = flush_done;
	attack_together(pages_replace, pages_watch, 100);
	expect(ipi_count[1][IPI_FLUSH] >= did[0]);
	tables_end();
	flush_hook = NULL;
}

static const struct tap_test tests[] = {
	{ "reads-while-tables-change", test_reads_while_tables_change },
	{ "writes-while-rights-change", test_writes_while_rights_change },
	{ "a-page-that-was-taken-away-is-gone", test_a_page_that_was_taken_away_is_gone },
};

const struct tap_group group_tables_together = TAP_GROUP(tests);
