/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the page-table cache coherent for a kernel that does not tell which pages its flushes
 * concern: `coherence = "detect"`. A load of CR3 empties a TLB of all that is not global. So when
 * an address space is loaded that has a shadow, each entry of the shadow is compared with what the
 * guest's tables say by now, and goes if it would not be made so again. Until then nobody uses the
 * shadow, so it does not matter that it is out of date.
 *
 * That costs a look at each entry of a part of a page table in which one has been filled, and saves
 * the fault of each page that has not changed.
 */
#include "views.h"

#include "entry_access.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/view.h"
#include "guests/x86/shadow/walk.h"
#include "masked_state.h"

/* What an entry of the guest must have for the shadow to have it, too: a page of the kernel alone
 * would have to be noted (views_note()). */
#define DETECT_USED (PTE_P | PTE_A | PTE_U)

/* Drops the entries of one part of a page table that are not as the guest's tables say. */
static void detect_part(const struct shadow *shadow, u32 *table, const u32 *guest, u32 pde)
{
	for (u32 i = 0; i < PART; i++) {
		u32 entry;

		if (table[i] == 0)
			continue;
		entry = entry_read(&guest[i]);
		if ((~(entry & (pde | ~PTE_U)) & DETECT_USED) != 0 ||
		    (entry & PTE_FRAME) >= shadow->memory_size ||
		    view_memory_entry(shadow, entry, entry & pde, false) != table[i])
			table[i] = 0;
	}
}

/* Compares a page table of the shadow with that which the guest's directory entry names. */
static void detect_table(const struct shadow *shadow, u32 frame, u32 pde)
{
	const u32 *guest = memory_window_frame(shadow->memory_base + (pde & PTE_FRAME));
	u32 marks = *pool_marks(frame);
	u32 *table = pool_pointer(frame);

	for (; marks != 0; marks &= marks - 1) {
		u32 first = (u32)__builtin_ctz(marks) * PART;

		detect_part(shadow, &table[first], &guest[first], pde);
	}
}

/* Compares an entry of the space's directory, or drops it with all that it leads to. */
static void detect_entry(struct x86 *x86, struct space *space, u32 index)
{
	u32 *entry = (u32 *)pool_pointer(space->directory) + index;
	const u32 *guest;
	u32 pde = 0;

	if (*entry == 0)
		return;
	guest = walk_entry(x86, space->guest, index);
	if (guest != NULL)
		pde = entry_read(guest);
	if ((*entry & PTE_PS) == 0 && (pde & (PTE_P | PTE_A)) == (PTE_P | PTE_A) &&
	    !walk_is_large(x86, pde) && (pde & PTE_FRAME) < x86->shadow.memory_size) {
		detect_table(&x86->shadow, *entry & PTE_FRAME, pde);
		return;
	}
	if ((*entry & PTE_PS) == 0)
		pool_free(*entry & PTE_FRAME);
	*entry = 0;
	views_follow(space, index, 0);
}

void views_compare(struct x86 *x86, struct space *space)
{
	EXPECTS_UNMASKED(x86->vcpu);
	for (u32 word = 0; word < ARRAY_SIZE(space->used_groups); word++)
		for (u32 bits = space->used_groups[word]; bits != 0; bits &= bits - 1) {
			u32 first = (word * 32 + (u32)__builtin_ctz(bits)) * GROUP;

			for (u32 i = 0; i < GROUP; i++)
				detect_entry(x86, space, first + i);
		}
}
