/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and changes entries of a guest's page tables where another vCPU may change them at the same
 * time. A store of what was read before would bring an entry back that Linux has just cleared. In
 * an image for guests with one vCPU single/entry_access.h takes the place of this.
 */
#pragma once

#include "lib/types.h"

/* Reads an entry once, so that what is checked is what is used. */
static inline u32 entry_read(const u32 *entry)
{
	return *(const volatile u32 *)entry;
}

/* Adds bits to an entry that was *now just now, and gives what it is then. Returns false if it is
 * another one by now: the guest then repeats its access, which faults again if it must. Most
 * entries have the bits, and need no locked access. */
static inline bool entry_add(u32 *entry, u32 *now, u32 bits)
{
	u32 old = *now;

	*now |= bits;
	return *now == old || __sync_bool_compare_and_swap(entry, old, *now);
}

/* The same for a directory entry, of which nobody needs to know what it is then. */
static inline bool entry_mark(u32 *entry, u32 now, u32 bits)
{
	return entry_add(entry, &now, bits);
}
