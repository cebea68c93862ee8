/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks leaves, page tables and the entries of directories against the invariant that
 * shadow_check.c states.
 */
#include "debug/page_table_check.h"

#include "debug/frame_check.h"
#include "debug/must.h"
#include "guests/x86/x86.h"
#include "lib/owner.h"
#include "siblings.h"
#include "views.h"

OF_CORE u32 entries_looked_at;

/* --- Leaves --- */

static bool may_be_written(const struct x86 *x86, u32 frame)
{
	const struct shadow *shadow = &x86->shadow;
	u32 own = frame - shadow->memory_base;

	/* shadow_protect() makes the protected page read-only in steps. While an upcall has
	 * suspended it, some entries may still be writable. */
	return own < shadow->memory_size &&
	       (own != shadow->protected_frame || x86->upcall_depth != 0);
}

/* Checks an entry that maps a page. `may` collects the bits that this entry may have. */
static void leaf_check(const struct x86 *x86, u32 linear, u32 entry, bool kernel)
{
	const struct shadow *shadow = &x86->shadow;
	u32 frame = entry & PTE_FRAME;
	u32 may = LEAF | PTE_U | (kernel ? 0 : views_global(PTE_U));

	must((~entry & (LEAF | VIEWS_ALWAYS)) == 0, "an entry lacks P, A or D", linear, entry);
	if (frame - shadow->memory_base < shadow->memory_size) {
		may |= may_be_written(x86, frame) ? PTE_W : 0;
		if (kernel) {
			may |= VIEWS_GLOBAL;
			must((entry & PTE_G) != 0 || global_entry(x86) == 0 ||
				     shadow->local_kernel || shadow->syncing,
			     "the kernel half has a local entry that is not known", linear, entry);
		}
	} else if (shadow->apic != 0 && frame == apic_frame(shadow, shadow->apic & PTE_FRAME)) {
		must(!x86->policy->interruptible || x86_has_siblings(x86),
		     "a guest sees a local APIC that has none", linear, entry);
		may |= PTE_PCD;
	} else {
		must(frame == shadow->nothing, "an entry names memory that is not the guest's",
		     linear, entry);
	}
	must((entry & ~PTE_FRAME & ~may) == 0, "an entry allows what it must not", linear, entry);
}

void large_check(const struct x86 *x86, u32 linear, u32 entry, bool kernel)
{
	const struct shadow *shadow = &x86->shadow;
	u32 own = (entry & PTE_FRAME) - shadow->memory_base;

	must((entry & PTE_FRAME & ~PTE_LARGE_FRAME) == 0 &&
		     own <= shadow->memory_size - LARGE_PAGE_SIZE,
	     "a large page reaches beyond the guest's memory", linear, entry);
	must(shadow->protected_frame - own >= LARGE_PAGE_SIZE || x86->upcall_depth != 0,
	     "a large page covers the protected page", linear, entry);
	leaf_check(x86, linear, entry & ~PTE_PS, kernel);
}

/* --- Tables --- */

bool is_zero(const u32 *entries, u32 count)
{
	u32 sum = 0;

	entries_looked_at += count / 8;
	while (count-- > 0)
		sum |= entries[count];
	return sum == 0;
}

void part_check(const struct x86 *x86, u32 linear, const u32 *entries, bool kernel)
{
	entries_looked_at += PART;
	for (u32 i = 0; i < PART; i++)
		if (entries[i] != 0)
			leaf_check(x86, linear + (i << PAGE_SHIFT), entries[i], kernel);
}

void page_table_check(const struct x86 *x86, u32 linear, u32 frame, bool kernel)
{
	const u32 *table = pool_pointer(frame);
	u32 marks = *pool_marks(frame);

	claim(frame, "a page table is in two places");
	for (u32 i = 0; i < ENTRIES; i += PART, marks >>= 1)
		if (marks & 1)
			part_check(x86, linear + (i << PAGE_SHIFT), &table[i], kernel);
		else
			must(is_zero(&table[i], PART), "a page table has entries without a mark",
			     linear + (i << PAGE_SHIFT), frame);
}

void entries_check(const struct x86 *x86, const u32 *directory, u32 first, u32 end)
{
	bool kernel = first >= KERNEL_FIRST;

	entries_looked_at += end - first;
	for (u32 i = first; i < end; i++) {
		u32 entry = directory[i], linear = i << LARGE_PAGE_SHIFT;

		if (entry == 0)
			continue;
		if (entry & PTE_PS) {
			large_check(x86, linear, entry, kernel);
			continue;
		}
		must((entry & ~PTE_FRAME) == TABLE, "a directory's entry is no page table's",
		     linear, entry);
		page_table_check(x86, linear, entry & PTE_FRAME, kernel);
	}
}
