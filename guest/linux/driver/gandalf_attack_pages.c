// SPDX-License-Identifier: GPL-2.0-only
/* Attacks by page tables. They write entries of one's choice into those of this guest. */
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <asm/tlbflush.h>

#include "gandalf_attack.h"

/* The page-directory entry of the VMM's first 4 MiB. */
#define VMM_DIRECTORY_INDEX (GANDALF_BASE >> PGDIR_SHIFT)

static enum outcome access_page(struct request *request, u32 address)
{
	u32 faulted;

	request->value = request->argument[1];
	if (request->arguments > 1) {
		faulted = attack_write_segment("ds", address, request->argument[1]);
		return outcome_of(faulted, OUTCOME_WROTE);
	}
	return outcome_of(attack_read_segment("ds", address, &request->value), OUTCOME_READ);
}

/* Makes a page-table entry for a guest-physical address of one's choice. */
static enum outcome attack_page(struct request *request)
{
	enum outcome outcome = OUTCOME_FAULT;
	unsigned int level;
	void *page = vmalloc(PAGE_SIZE);
	pte_t *entry = page ? lookup_address((unsigned long)page, &level) : NULL;
	pte_t kept;

	if (!entry)
		return outcome;
	kept = *entry;
	set_pte(entry, __pte((request->argument[0] & PAGE_MASK) | __PAGE_KERNEL));
	__flush_tlb_all();
	outcome = access_page(request, (u32)page + (request->argument[0] & ~PAGE_MASK));
	set_pte(entry, kept);
	__flush_tlb_all();
	vfree(page);
	return outcome;
}

/* Makes a page-directory entry of one's choice in the loaded address space, for one access. */
static enum outcome access_directory(struct request *request, unsigned int index, u32 entry,
				     u32 address)
{
	pgd_t *directory = (pgd_t *)__va(read_cr3_pa()) + index;
	enum outcome outcome;
	pgd_t kept = *directory;

	WRITE_ONCE(directory->pgd, entry);
	__flush_tlb_all();
	outcome = access_page(request, address);
	WRITE_ONCE(directory->pgd, kept.pgd);
	flush_tlb_mm(current->mm);
	__flush_tlb_all();
	return outcome;
}

/* Returns a free entry below the kernel's half, so that nothing of this process is in the way. */
static unsigned int free_directory_index(void)
{
	pgd_t *directory = __va(read_cr3_pa());
	unsigned int index = KERNEL_PGD_BOUNDARY;

	while (index > 0 && directory[index].pgd)
		index--;
	return index;
}

/* Takes what lies at the guest-physical address for a whole page table. */
static enum outcome attack_page_table(struct request *request)
{
	unsigned int index = free_directory_index();
	u32 entry = (request->argument[0] & PAGE_MASK) | _KERNPG_TABLE;

	return access_directory(request, index, entry, index << PGDIR_SHIFT);
}

/* Maps a large page at the guest-physical address. */
static enum outcome attack_large_page(struct request *request)
{
	unsigned int index = free_directory_index();
	u32 entry = (request->argument[0] & PGDIR_MASK) | __PAGE_KERNEL_LARGE;
	u32 address = (index << PGDIR_SHIFT) + (request->argument[0] & ~PGDIR_MASK);

	return access_directory(request, index, entry, address);
}

/* Maps a large page of the guest's own memory in the VMM's part of the address space. */
static enum outcome attack_directory(struct request *request)
{
	unsigned int index = request->argument[0] >> PGDIR_SHIFT;

	if (index < VMM_DIRECTORY_INDEX)
		return OUTCOME_FAULT;
	return access_directory(request, index, __PAGE_KERNEL_LARGE | _PAGE_USER,
				request->argument[0]);
}

const struct attack page_attacks[] = {
	{ "page", "GUEST-PHYSICAL [VALUE]", false, 1, attack_page },
	{ "page-table", "GUEST-PHYSICAL [VALUE]", false, 1, attack_page_table },
	{ "large-page", "GUEST-PHYSICAL [VALUE]", false, 1, attack_large_page },
	{ "directory", "ADDRESS [VALUE]", false, 1, attack_directory },
	{ NULL },
};
