/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hostile kernel in ring 1, in the place of Linux: it has descriptor tables
 * and page tables of its own to attack with.
 */
#include "attack.h"
#include "suite.h"

#define UART 0x3f8
#define UART_LINE_STATUS (UART + 5)
#define UART_RECEIVED 1
/* At 115,200 baud 12 bytes arrive between two ticks: they fit into a real FIFO. */
#define TICKS_PER_SECOND 1000
#define SCRATCH_INDEX (SCRATCH_LARGE / LARGE_PAGE_SIZE)

/* INDEX LOW HIGH: an entry of the GDT, which stays. */
static enum outcome attack_gdt(struct request *request)
{
	const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) table = { sizeof(gdt) - 1, (uint32_t)gdt };

	gdt[request->argument[0] % GDT_ENTRIES] = (struct descriptor){
		request->argument[1], request->argument[2],
	};
	__asm__ volatile("lgdt %0" : : "m"(table) : "memory");
	return OUTCOME_WROTE;
}

/* Reads at the address, or writes if a value is given. */
static enum outcome access_page(struct request *request, uint32_t address)
{
	bool store = request->arguments > 1;

	request->value = request->argument[1];
	return access_by(SEGMENT_DS, address, &request->value, store);
}

/* A page-table entry for a guest-physical address. */
static enum outcome attack_page(struct request *request)
{
	uint32_t physical = request->argument[0];
	enum outcome outcome;

	scratch_map(0, (const void *)(physical & ~(PAGE_SIZE - 1)), PAGE_P | PAGE_W);
	invlpg(SCRATCH);
	outcome = access_page(request, SCRATCH + physical % PAGE_SIZE);
	scratch_map(0, NULL, 0);
	invlpg(SCRATCH);
	return outcome;
}

static enum outcome access_directory(struct request *request, uint32_t index, uint32_t entry,
				     uint32_t address)
{
	volatile uint32_t *directory = page_directory;
	uint32_t kept = directory[index];
	enum outcome outcome;

	directory[index] = entry;
	cr3_write(cr3_read());
	outcome = access_page(request, address);
	directory[index] = kept;
	cr3_write(cr3_read());
	return outcome;
}

/* A whole page table at a guest-physical address; its first entry is used. */
static enum outcome attack_page_table(struct request *request)
{
	uint32_t entry = (request->argument[0] & ~(PAGE_SIZE - 1)) | PAGE_P | PAGE_W;

	return access_directory(request, SCRATCH_INDEX, entry, SCRATCH_LARGE);
}

/* A large page at a guest-physical address. */
static enum outcome attack_large_page(struct request *request)
{
	uint32_t physical = request->argument[0];
	uint32_t entry = (physical & ~(LARGE_PAGE_SIZE - 1)) | PAGE_P | PAGE_W | PAGE_PS;

	return access_directory(request, SCRATCH_INDEX, entry,
				SCRATCH_LARGE + physical % LARGE_PAGE_SIZE);
}

/* The guest's own entry for an address of the VMM: a large page of its memory. */
static enum outcome attack_directory(struct request *request)
{
	uint32_t address = request->argument[0];

	return access_directory(request, address / LARGE_PAGE_SIZE,
				PAGE_P | PAGE_W | PAGE_PS | PAGE_U, address);
}

/* CR3 itself: a page directory at a guest-physical address, then back. */
static enum outcome attack_cr3(struct request *request)
{
	uint32_t kept = cr3_read();

	ATTEMPT("movl %0, %%cr3", "", : : "r"(request->argument[0]) : "memory");
	cr3_write(kept);
	return outcome_of(OUTCOME_WROTE);
}

static enum outcome attack_lgdt(struct request *request)
{
	const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) table = { 0xfff, request->argument[0] };

	ATTEMPT("lgdt %0", "", : : "m"(table) : "memory");
	gdt_load();
	return outcome_of(OUTCOME_WROTE);
}

/* Has the VMM drop the whole TLB. */
static enum outcome attack_flush(struct request *request)
{
	uint32_t kept = cr4_read();

	(void)request;
	cr4_write(kept ^ CR4_PGE);
	cr4_write(kept);
	return OUTCOME_WROTE;
}

const struct attack platform_attacks[] = {
	{ "flush", false, 0, attack_flush },
	{ "gdt", false, 3, attack_gdt },
	{ "page", false, 1, attack_page },
	{ "page-table", false, 1, attack_page_table },
	{ "large-page", false, 1, attack_large_page },
	{ "directory", false, 1, attack_directory },
	{ "cr3", false, 1, attack_cr3 },
	{ "lgdt", false, 1, attack_lgdt },
	{ 0 },
};

char platform_read(void)
{
	/* It does not sleep: a sleeping guest's address space is not loaded, and an RTOS without
	 * limits would find nothing of it. But it enters the VMM, whose return loads the segments
	 * anew, as a test may have changed them. */
	while (!(port_in(UART_LINE_STATUS) & UART_RECEIVED)) {
		for (uint32_t ticks = irq_count[0]; irq_count[0] == ticks;)
			continue;
		hypercall(GANDALF_HYPERCALL_NULL, 0, 0, 0);
	}
	return (char)port_in(UART);
}

void suite_run(void)
{
	tables_load();
	paging_enable();
	pic_init();
	pit_start(TICKS_PER_SECOND);
	pic_unmask(1);
	irq_enable();
	attack_run();
	machine_off(false);
}
