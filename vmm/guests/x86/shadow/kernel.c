/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the kernel half of the shadow from the guest's tables, a part of a page table at a time.
 */
#include "guests/x86/shadow/kernel.h"

#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/tlb.h"
#include "guests/x86/shadow/view.h"
#include "guests/x86/shadow/walk.h"
#include "entry_access.h"

/* Fills a part of a page table, from an address on, as the guest's directory entry pde says. */
MUST_CHECK static bool kernel_sync_table(struct x86 *x86, u32 linear, u32 pde)
{
	bool large = walk_is_large(x86, pde);
	enum shadow_result why;
	u32 *table = directory_table(x86, directory_index(linear), &why);
	const u32 *guest = large ? NULL : walk_entry(x86, pde, 0);

	if (table == NULL || (guest == NULL && !large))
		return false;
	for (u32 i = table_index(linear), end = i + PART; i < end; i++) {
		u32 entry = guest == NULL ? view_large_as_small(pde, i << PAGE_SHIFT)
					  : view_restricted(entry_read(&guest[i]), pde);

		table[i] = entry & PTE_P ? view_entry(x86, entry, true) : 0;
	}
	return true;
}

/* Rebuilds a directory entry of the kernel half, or a part of its page table, from the guest's
 * tables. Returns the address behind it. */
static u32 kernel_sync_part(struct x86 *x86, u32 linear)
{
	struct shadow *shadow = &x86->shadow;
	u32 index = directory_index(linear);
	u32 *guest = walk_entry(x86, x86->cr3, index);
	u32 pde = guest != NULL ? entry_read(guest) : 0;

	directory_kernel_changes(shadow);
	if ((pde & PTE_P) && !entry_add(guest, &pde, PTE_A))
		return linear;
	if ((pde & PTE_P) && walk_is_large(x86, pde) && view_large_fits(shadow, pde))
		directory_set_large(x86, index, pde);
	else if ((pde & PTE_P) && kernel_sync_table(x86, linear, pde))
		return linear + PART * PAGE_SIZE;
	else
		directory_drop(shadow, index);
	return (linear & PTE_LARGE_FRAME) + LARGE_PAGE_SIZE;
}

/* Rebuilds a range part by part. The guest may run between two parts, so each follows the guest's
 * registers as they are then, and all ends if paging is off. */
static void kernel_sync_range(struct x86 *x86, u32 linear, u32 end)
{
	while (linear < end && x86->shadow.current != NULL) {
		linear = kernel_sync_part(x86, linear);
		x86_point(x86);
	}
}

void kernel_sync(struct x86 *x86)
{
	vcpu_count(x86->vcpu, COUNTER_kernel_syncs);
	x86->shadow.local_kernel = false;
	x86->shadow.syncing = true;
	kernel_sync_range(x86, SHADOW_KERNEL, KERNEL_END << LARGE_PAGE_SHIFT);
	x86->shadow.syncing = false;
}

void kernel_resync_page(struct x86 *x86, u32 linear)
{
	u32 index = directory_index(linear);
	const u32 *place = walk_entry(x86, x86->cr3, index);
	u32 entry = directory_current(&x86->shadow)[index];
	u32 *guest, *table;
	u32 pde;

	if (index >= KERNEL_END)
		return;
	directory_kernel_changes(&x86->shadow);
	if (place == NULL || ((pde = entry_read(place)) & PTE_P) == 0 ||
	    walk_is_large(x86, pde) || entry == 0 || (entry & PTE_PS) != 0) {
		linear &= PTE_LARGE_FRAME;
		kernel_sync_range(x86, linear, linear + LARGE_PAGE_SIZE);
		/* The CPU may have old entries of the other pages cached, through which the VMM
		 * could store. */
		tlb_flush();
		return;
	}
	table = pool_pointer(entry & PTE_FRAME);
	guest = walk_entry(x86, pde, table_index(linear));
	entry = guest == NULL ? 0 : view_restricted(entry_read(guest), pde);
	table[table_index(linear)] = entry & PTE_P ? view_entry(x86, entry, true) : 0;
}
