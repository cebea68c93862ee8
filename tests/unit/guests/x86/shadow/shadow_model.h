/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of what page tables mean that shares nothing with the VMM: a walker over a guest's
 * tables, one over the shadow's, and a TLB that keeps what a processor may.
 */
#ifndef GANDALF_SHADOW_MODEL_H
#define GANDALF_SHADOW_MODEL_H

#include "arch/ia32/machine.h"

/* The guest's memory, in that of machine.h. */
#define GUEST_BASE 0x1000000u
#define GUEST_SIZE 0x800000u

/* The place in the TLB that a new entry takes, modulo its size: the test's choice. */
static u32 tlb_place(void);

/* The walkers: of the guest's own tables, and of what the processor uses. */

struct rights {
	bool present, writable, user, dirty;
	u32 frame;
};

static u32 *guest_word(u32 address)
{
	return address < GUEST_SIZE ? physical_word(GUEST_BASE + address) : NULL;
}

static struct rights leaf(u32 pde, u32 entry, u32 frame)
{
	return (struct rights){
		.present = true,
		.writable = (pde & entry & PTE_W) != 0,
		.user = (pde & entry & PTE_U) != 0,
		.dirty = (entry & PTE_D) != 0,
		.frame = frame,
	};
}

static struct rights guest_walk(u32 directory, u32 cr4, u32 linear)
{
	const u32 *word = guest_word((directory & PTE_FRAME) + (linear >> 22) * 4);
	u32 pde = word != NULL ? *word : 0;

	if ((pde & PTE_P) == 0)
		return (struct rights){ 0 };
	if ((pde & PTE_PS) && (cr4 & CR4_PSE))
		return leaf(pde, pde, (pde & 0xffc00000) + (linear & 0x3ff000));
	word = guest_word((pde & PTE_FRAME) + (linear >> 12) % 1024 * 4);
	if (word == NULL || (*word & PTE_P) == 0)
		return (struct rights){ 0 };
	return leaf(pde, *word, *word & PTE_FRAME);
}

static struct rights shadow_walk(u32 directory, u32 linear, bool *global)
{
	u32 pde = *physical_word(directory + (linear >> 22) * 4);
	u32 pte;

	*global = false;
	if ((pde & PTE_P) == 0)
		return (struct rights){ 0 };
	*global = (pde & PTE_G) != 0;
	if (pde & PTE_PS)
		return leaf(pde, pde, (pde & 0xffc00000) + (linear & 0x3ff000));
	pte = *physical_word((pde & PTE_FRAME) + (linear >> 12) % 1024 * 4);
	*global = (pte & PTE_G) != 0;
	return pte & PTE_P ? leaf(pde, pte, pte & PTE_FRAME) : (struct rights){ 0 };
}

/* The TLB: what the processor may still use. */

struct translation_entry {
	bool valid, global, large;
	u32 page;
	struct rights rights;
};

static struct translation_entry tlb[64];

/* And the directory entries that it may use for addresses not yet in it. */
static struct {
	bool valid;
	u32 pde;
} directory_cache[1024];

static void directory_cache_flush(void)
{
	memset(directory_cache, 0, sizeof(directory_cache));
}

static void tlb_drop(bool also_global)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (also_global || !tlb[i].global)
			tlb[i].valid = false;
	directory_cache_flush();
}

void processor_set_cr3(u32 value)
{
	processor.cr3 = value;
	tlb_drop(false);
}

void processor_set_cr4(u32 value)
{
	if ((processor.cr4 ^ value) & CR4_PGE)
		tlb_drop(true);
	processor.cr4 = value;
}

static void tlb_drop_page(u32 linear)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (tlb[i].page == linear >> 12 ||
		    (tlb[i].large && tlb[i].page >> 10 == linear >> 22))
			tlb[i].valid = false;
}

void processor_invlpg(u32 address)
{
	if (is_window(address)) {
		window_follow(address);
		return;
	}
	tlb_drop_page(address);
	directory_cache_flush();
}

void processor_sleep(void)
{
	fail();
}

static struct translation_entry *tlb_find(u32 linear)
{
	for (unsigned i = 0; i < ARRAY_SIZE(tlb); i++)
		if (tlb[i].valid && tlb[i].page == linear >> 12)
			return &tlb[i];
	return NULL;
}

static struct rights tlb_walk(u32 linear)
{
	struct translation_entry *entry = tlb_find(linear);
	struct rights rights;
	bool global;

	if (entry != NULL)
		return entry->rights;
	rights = shadow_walk(processor.cr3, linear, &global);
	directory_cache[linear >> 22].pde = *physical_word(processor.cr3 + (linear >> 22) * 4);
	directory_cache[linear >> 22].valid = (directory_cache[linear >> 22].pde & PTE_P) != 0;
	if (!rights.present)
		return rights;
	entry = &tlb[tlb_place() % ARRAY_SIZE(tlb)];
	*entry = (struct translation_entry){
		.valid = true,
		.global = global && (processor.cr4 & CR4_PGE),
		.large = (directory_cache[linear >> 22].pde & PTE_PS) != 0,
		.page = linear >> 12,
		.rights = rights,
	};
	return rights;
}

static bool rights_allow(struct rights rights, u32 error)
{
	return rights.present && ((error & PF_W) == 0 || rights.writable) &&
	       ((error & PF_U) == 0 || rights.user);
}

#endif
