/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's own page tables, to which its registers lead.
 */
#pragma once

#include "guests/x86/x86.h"

/* Returns a pointer to an entry of a table or directory of the guest, in a window of memory.h.
 * table is the entry that leads there, or CR3. Returns NULL if it leads to no memory of the
 * guest. */
MUST_CHECK static inline u32 *walk_entry(struct x86 *x86, u32 table, u32 index)
{
	u32 frame = table & PTE_FRAME;

	if (frame >= x86->shadow.memory_size)
		return NULL;
	return (u32 *)memory_window_frame(x86->shadow.memory_base + frame) + index;
}

/* Returns whether a directory entry maps a page of 4 MiB. */
static inline bool walk_is_large(const struct x86 *x86, u32 entry)
{
	return (entry & PTE_PS) != 0 && (x86->cr4 & CR4_PSE) != 0;
}

/* Finds the guest's page directory for shadow_fill(), at its first call behind a load of CR3, or
 * when the window has been used for something else. Returns NULL if CR3 leads to no memory. */
MUST_CHECK u32 *walk_directory(struct x86 *x86);
