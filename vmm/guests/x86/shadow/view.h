/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States the one rule for what a shadow entry permits. It holds for each view of an address space:
 * with rings there is one, since the CPU itself tells supervisor pages from user pages; with two
 * levels the kernel's view and the process's have these entries in common. What differs between the
 * two is in views.h.
 */
#pragma once

#include "guests/x86/x86.h"
#include "guests/x86/shadow/part.h"
#include "views.h"

/* Returns U and W as both levels of the guest's tables give them: what a page's entry permits and
 * the directory entry that leads there does not withhold. Its other bits mean nothing. */
static inline u32 view_rights(u32 entry, u32 pde)
{
	return entry & pde;
}

/* Returns an entry of the guest's whose U and W are those rights. */
static inline u32 view_restricted(u32 entry, u32 pde)
{
	return view_rights(entry, pde | ~(PTE_U | PTE_W));
}

/* Returns the shadow entry of a page of the guest's memory. entry is the guest's; rights has U and
 * W as both levels of its tables give them. The page is writable only if the guest's dirty bit is
 * set, so that its first store is seen, and if it is not the protected one. unprotected: the
 * caller knows that it is not. */
static inline u32 view_memory_entry(const struct shadow *shadow, u32 entry, u32 rights,
				    bool unprotected)
{
	u32 frame = entry & PTE_FRAME;
	u32 global = views_global(rights);

	rights &= PTE_U | PTE_W;
	if ((entry & PTE_D) == 0 || (!unprotected && frame == shadow->protected_frame))
		rights &= ~PTE_W;
	return (shadow->memory_base + frame) | rights | global | PTE_P | PTE_A | PTE_D |
	       VIEWS_ALWAYS;
}

/* Returns the entry that a 4 KiB page inside a large one would have. */
static inline u32 view_large_as_small(u32 pde, u32 linear)
{
	return (pde & (PAGE_SIZE - 1) & ~PTE_PS) | (pde & PTE_LARGE_FRAME) |
	       (linear & (LARGE_PAGE_SIZE - 1) & PTE_FRAME);
}

/* Returns whether a frame that is not memory of the guest is its local APIC. */
static inline bool view_is_apic(const struct shadow *shadow, u32 frame)
{
	return (frame ^ shadow->apic) < PAGE_SIZE;
}

/* Returns whether a guest's large page can be one in the shadow, too. */
static inline bool view_large_fits(const struct shadow *shadow, u32 pde)
{
	u32 frame = pde & PTE_LARGE_FRAME;

	return frame < shadow->memory_size &&
	       (shadow->protected_frame & PTE_LARGE_FRAME) != frame;
}

/* Returns the shadow entry of any page, given a guest's entry whose U and W hold for both levels.
 * kernel: the page is in the kernel half, where it may be global. */
u32 view_entry(struct x86 *x86, u32 entry, bool kernel);
