/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's own page tables, as its registers say.
 */
#pragma once

#include "guests/x86/x86.h"

/* An entry of a table or directory of the guest, in a window of memory.h: the frame is that of the
 * entry that leads to it, or CR3. NULL: that is no memory of the guest. */
MUST_CHECK static inline u32 *walk_entry(struct x86 *x86, u32 table, u32 index)
{
	u32 frame = table & PTE_FRAME;

	if (frame >= x86->shadow.memory_size)
		return NULL;
	return (u32 *)memory_window_frame(x86->shadow.memory_base + frame) + index;
}

/* Whether a directory entry is of a page of 4 MiB. */
static inline bool walk_is_large(const struct x86 *x86, u32 entry)
{
	return (entry & PTE_PS) != 0 && (x86->cr4 & CR4_PSE) != 0;
}

/* The guest's page directory, which shadow_fill() begins with: at its first call behind a load
 * of CR3, and when the window has been used for something else. NULL: CR3 leads to no memory. */
MUST_CHECK u32 *walk_directory(struct x86 *x86);
