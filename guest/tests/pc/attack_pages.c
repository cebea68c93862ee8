/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks of pc-attack.elf: the VMM writes to the GDT for its guest, and is to write elsewhere, by
 * what it remembers of where the GDT was.
 *
 *	protected-page CHANGE FRAME OFFSET VALUE SHORT
 *
 * CHANGE: what becomes of the page table meanwhile, see enum change; FRAME, OFFSET: where to write,
 * guest-physical; SHORT: 0 for MOV of EAX, 1 for MOV of another register.
 *
 * And what takes the VMM longest: it rebuilds a kernel's half in which every page is there.
 *
 *	kernel-half SPACES TABLES HOW
 *
 * SPACES: that many page directories have shadows, which are told of each page table that is
 * made; TABLES: page tables of theirs, which the first have, and which the VMM has to give up if
 * its pool is empty; HOW: with interrupts disabled or enabled, or on a stack for which it has no
 * page tables, see enum how.
 */
#include "attack.h"

#include "print.h"
#include "suite.h"

enum change { BY_LARGE_PAGE, ENTRY_ONLY, ENTRY_INVALIDATED, TABLE_ONLY, ABSENT_BETWEEN, BY_CR3,
	      LARGE_AND_FLUSH };

enum how { DISABLED, ENABLED, ON_NEW_STACK };

/* In the kernel's half. */
#define WINDOW 0xe0000000U
#define DIRECTORY_ENTRY page_directory[WINDOW / LARGE_PAGE_SIZE]
#define LARGE_FRAME 0x400000U
#define FREE_ENTRY 20
/* Pages of the window: one that the first table lacks, and one that the second has. */
#define LACKING 1U
#define FILLING 2U

/* Memory that nothing else is in, and what its directories have in their lower half. */
#define DIRECTORIES ((uint32_t (*)[1024])0x800000)
#define LOWER_FIRST 16U
/* The frame of an interrupt there lies in the pages of two page tables. */
#define NEW_STACK ((LOWER_FIRST + 1) * LARGE_PAGE_SIZE + 4)
#define KERNEL_FIRST (KERNEL_HALF / LARGE_PAGE_SIZE)
#define KERNEL_END (GANDALF_BASE / LARGE_PAGE_SIZE)

static uint32_t first[1024] __attribute__((aligned(4096)));
static uint32_t second[1024] __attribute__((aligned(4096)));
static uint32_t directory[1024] __attribute__((aligned(4096)));

static volatile uint32_t *window(uint32_t page, uint32_t offset)
{
	return (volatile uint32_t *)(WINDOW + page * PAGE_SIZE + offset);
}

/* The GDT, written through the window: the VMM does it, and remembers where. */
static void gdt_show(void)
{
	first[0] = (uint32_t)&gdt_page | PAGE_P | PAGE_W | PAGE_A | PAGE_D;
	DIRECTORY_ENTRY = (uint32_t)first | PAGE_P | PAGE_W | PAGE_A;
	gdt_register_load();
	cr3_write(cr3_read());
	for (uint32_t i = 0; i < 2; i++)
		__asm__ volatile("movl %%ecx, %c0"
				 : : "i"(WINDOW + FREE_ENTRY * 8), "c"(0x1234) : "memory");
	expect_equal(gdt[FREE_ENTRY].low, 0x1234);
}

/* None invalidates more than it says. */
static void table_change(enum change change, uint32_t frame)
{
	uint32_t entry = frame | PAGE_P | PAGE_W | PAGE_A | PAGE_D;

	second[0] = entry;
	second[FILLING] = (uint32_t)scratch_frame[0] | PAGE_P | PAGE_W | PAGE_A | PAGE_D;
	if (change == ENTRY_ONLY || change == ENTRY_INVALIDATED)
		first[0] = entry;
	else if (change == ABSENT_BETWEEN)
		DIRECTORY_ENTRY = 0;
	else if (change == BY_LARGE_PAGE || change == LARGE_AND_FLUSH)
		DIRECTORY_ENTRY = LARGE_FRAME | PAGE_P | PAGE_PS;
	if (change == BY_LARGE_PAGE || change == LARGE_AND_FLUSH)
		(void)*window(LACKING, 0);
	if (change == LARGE_AND_FLUSH)
		pages_flush(page_directory, WINDOW, WINDOW + LARGE_PAGE_SIZE);
	if (change == ENTRY_INVALIDATED)
		invlpg(WINDOW);
	if (change == ENTRY_ONLY || change == ENTRY_INVALIDATED)
		return;
	if (change == ABSENT_BETWEEN)
		TRAP_PROVOKE("movl %%eax, %c0", : : "i"(WINDOW + LACKING * PAGE_SIZE) : "memory");
	DIRECTORY_ENTRY = (uint32_t)second | PAGE_P | PAGE_W | PAGE_A;
	if (change == BY_CR3) {
		for (uint32_t i = 0; i < 1024; i++)
			directory[i] = page_directory[i];
		cr3_write((uint32_t)directory);
	}
	TRAP_PROVOKE("movl %%eax, %c0", : : "i"(WINDOW + FILLING * PAGE_SIZE) : "memory");
}

static void __attribute__((noinline)) store_eax(uint32_t offset, uint32_t value)
{
	/* The address has to be in the instruction. */
	if (offset == 0x350)
		__asm__ volatile("movl %%eax, %c0" : : "i"(WINDOW + 0x350), "a"(value) : "memory");
	else
		__asm__ volatile("movl %%eax, %c0" : : "i"(WINDOW + 0x320), "a"(value) : "memory");
}

static void __attribute__((noinline)) store_ecx(uint32_t offset, uint32_t value)
{
	if (offset == 0x350)
		__asm__ volatile("movl %%ecx, %c0" : : "i"(WINDOW + 0x350), "c"(value) : "memory");
	else
		__asm__ volatile("movl %%ecx, %c0" : : "i"(WINDOW + 0x320), "c"(value) : "memory");
}

static void attack_protected_page(const uint32_t *arguments)
{
	uint32_t frame = arguments[1], offset = arguments[2];
	uint32_t before, after;

	scratch_map(0, (void *)frame, PAGE_P | PAGE_W);
	invlpg(SCRATCH);
	before = *(volatile uint32_t *)(SCRATCH + offset);
	gdt_show();
	table_change((enum change)arguments[0], frame);
	(void)*window(0, offset);
	(arguments[4] != 0 ? store_ecx : store_eax)(offset, arguments[3]);
	after = *(volatile uint32_t *)(SCRATCH + offset);
	print("there is 0x%x, was 0x%x\n", after, before);
}

/* Has the VMM make a shadow of a directory, with so many page tables or as many as it has room for;
 * returns how many. */
static uint32_t space_make(uint32_t *space, uint32_t tables)
{
	uint32_t room = KERNEL_FIRST - LOWER_FIRST;
	uint32_t count = tables < room ? tables : room;

	for (uint32_t i = 0; i < 1024; i++)
		space[i] = page_directory[i];
	for (uint32_t i = LOWER_FIRST; i < LOWER_FIRST + count; i++)
		space[i] = page_directory[SCRATCH / LARGE_PAGE_SIZE];
	cr3_write((uint32_t)space);
	for (uint32_t i = LOWER_FIRST; i < LOWER_FIRST + count; i++)
		(void)*(volatile uint32_t *)(i * LARGE_PAGE_SIZE);
	return count;
}

/* The kernel's half, all of large pages of one frame, from the next flush on. */
static void kernel_half_fill(uint32_t *tables, uint32_t frame)
{
	for (uint32_t i = KERNEL_FIRST + 1; i < KERNEL_END; i++)
		tables[i] = frame | PAGE_P | PAGE_W | PAGE_A | PAGE_D | PAGE_G | PAGE_PS;
}

static void kernel_half_rebuild(enum how how)
{
	static uint32_t esp;
	uint32_t cr4 = cr4_read() | CR4_PGE;

	irq_await(1);
	/* STI lets interrupts in behind the next instruction only, and that is the VMM's work. */
	if (how == ON_NEW_STACK)
		__asm__ volatile("movl %%esp, %0\n\tmovl %2, %%esp\n\tsti\n\tmovl %1, %%cr4\n\t"
				 "cli\n\tmovl %0, %%esp"
				 : "+m"(esp) : "r"(cr4), "i"(NEW_STACK) : "memory", "cc");
	else if (how == ENABLED)
		__asm__ volatile("sti\n\tmovl %0, %%cr4\n\tcli" : : "r"(cr4) : "memory", "cc");
	else
		cr4_write(cr4);
}

static void attack_kernel_half(const uint32_t *arguments)
{
	uint32_t spaces = arguments[0], tables = arguments[1];
	uint32_t *last = &DIRECTORIES[spaces - 1][0];

	vectors_show();
	scratch_map(0, scratch_frame[0], PAGE_P | PAGE_W);
	scratch_map(1023, scratch_frame[1], PAGE_P | PAGE_W);
	/* The VMM keeps its page read-only. */
	gdt_register_load();
	/* From now on directories that are not loaded keep their shadows. */
	pages_flush(page_directory, 0, 0);
	for (uint32_t i = 0; i < spaces; i++)
		tables -= space_make(DIRECTORIES[i], tables);
	last[LOWER_FIRST] = last[LOWER_FIRST + 1] = page_directory[SCRATCH / LARGE_PAGE_SIZE];
	kernel_half_fill(last, LARGE_FRAME);
	cr3_write((uint32_t)last);
	/* The GDT is in them, so the VMM splits them. */
	kernel_half_fill(last, 0);
	kernel_half_rebuild((enum how)arguments[2]);
}

const struct attack attacks_pages[] = { { "protected-page", attack_protected_page },
					{ "kernel-half", attack_kernel_half },
					{ 0 } };
