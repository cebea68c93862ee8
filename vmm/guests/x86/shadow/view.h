/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a view of the guest's tables lets whoever runs in it do with a page: the one rule for
 * rights. With rings one view serves the guest's kernel and its processes, because the CPU itself
 * tells supervisor pages from user pages.
 */
#pragma once

#include "guests/x86/x86.h"
#include "guests/x86/shadow/part.h"

/* The shadow entry of a page of the guest's memory. entry: the guest's; rights: U and W as both
 * levels of its tables give them. It is writable only if the guest's dirty bit is set, so that
 * the guest's first store sets it, and if it is not the protected frame. unprotected: that has
 * been looked at. */
static inline u32 view_memory_entry(const struct shadow *shadow, u32 entry, u32 rights,
				    bool unprotected)
{
	u32 frame = entry & PTE_FRAME;

	rights &= PTE_U | PTE_W;
	if ((entry & PTE_D) == 0 || (!unprotected && frame == shadow->protected_frame))
		rights &= ~PTE_W;
	return (shadow->memory_base + frame) | rights | PTE_P | PTE_A | PTE_D;
}

/* What a 4 KiB page inside a large one looks like. */
static inline u32 view_large_as_small(u32 pde, u32 linear)
{
	return (pde & (PAGE_SIZE - 1) & ~PTE_PS) | (pde & PTE_LARGE_FRAME) |
	       (linear & (LARGE_PAGE_SIZE - 1) & PTE_FRAME);
}

/* Of a frame that is not memory of the guest. */
static inline bool view_is_apic(const struct shadow *shadow, u32 frame)
{
	return (frame ^ shadow->apic) < PAGE_SIZE;
}

/* Whether a guest's large page can be one in the shadow. */
static inline bool view_large_fits(const struct shadow *shadow, u32 pde)
{
	u32 frame = pde & PTE_LARGE_FRAME;

	return frame < shadow->memory_size &&
	       (shadow->protected_frame & PTE_LARGE_FRAME) != frame;
}

/* The shadow entry of any page, of a guest's entry whose U and W hold for both levels. kernel:
 * in the kernel half, where it may be global. */
u32 view_entry(struct x86 *x86, u32 entry, bool kernel);
