/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes shadow page directories: the lower part in one directory, the kernel half in all at once.
 */
#include "guests/x86/shadow/directory.h"

#include "guests/x86/shadow/tlb.h"
#include "guests/x86/shadow/view.h"

/* Writes an entry of the kernel half, which is the same in all spaces, into all of them. */
static void directory_set_kernel(struct shadow *shadow, u32 index, u32 entry)
{
	u32 *master = pool_pointer(shadow->master);

	if (master[index] == entry)
		return;
	directory_kernel_changes(shadow);
	master[index] = entry;
	for (u32 i = 0; i < shadow->space_limit; i++) {
		const struct space *space = space_at(shadow, i);

		if (space->directory != 0)
			((u32 *)pool_pointer(space->directory))[index] = entry;
	}
}

void directory_set(struct shadow *shadow, u32 index, u32 entry)
{
	struct space *space = shadow->current;

	if (index >= KERNEL_FIRST) {
		directory_set_kernel(shadow, index, entry);
		return;
	}
	directory_current(shadow)[index] = entry;
	views_follow(space, index, entry);
	space->used_groups[index / GROUP / 32] |= 1u << index / GROUP % 32;
}

u32 *directory_table(struct x86 *x86, u32 index, enum shadow_result *why)
{
	struct shadow *shadow = &x86->shadow;
	u32 entry = directory_current(shadow)[index];
	u32 frame;

	if (entry != 0 && (entry & PTE_PS) == 0)
		return pool_pointer(entry & PTE_FRAME);
	if (entry != 0) {
		directory_set(shadow, index, 0);
		tlb_flush_global();
	}
	/* With direct gates no interrupt can be let in while a frame is zeroed at the fault of a
	 * process: Linux would take it for an interrupt of its kernel. So the process faults again
	 * until the whole frame is zero, and can be interrupted in between. */
	if (!x86->policy->interruptible && index < KERNEL_FIRST && !pool_prepare()) {
		*why = SHADOW_FILLED;
		return NULL;
	}
	frame = space_frame_allocate(x86);
	if (frame == 0) {
		*why = SHADOW_FULL;
		return NULL;
	}
	if (index < KERNEL_FIRST)
		*pool_marks(frame) = 0;
	directory_set(shadow, index, frame | DIRECTORY_TABLE_BITS);
	return pool_pointer(frame);
}

void directory_drop(struct shadow *shadow, u32 index)
{
	u32 entry = directory_current(shadow)[index];

	if (entry == 0)
		return;
	directory_set(shadow, index, 0);
	if ((entry & PTE_PS) == 0)
		pool_free(entry & PTE_FRAME);
}

void directory_set_large(struct x86 *x86, u32 index, u32 pde)
{
	struct shadow *shadow = &x86->shadow;
	u32 small = view_large_as_small(pde, 0);
	u32 entry = view_entry(x86, small, index >= KERNEL_FIRST) | PTE_PS;
	u32 old = directory_current(shadow)[index];

	if (old == entry)
		return;
	directory_drop(shadow, index);
	directory_set(shadow, index, entry);
	/* The CPU may still have entries of the freed table cached. */
	if (old != 0)
		views_flush();
}
