/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a test change an entry of the guest's tables, as a sibling does, between the VMM's look at it
 * and what the VMM adds to it (several/entry_access.h).
 */
#pragma once

#include "lib/types.h"

/* Is called there, with the entry; NULL: nobody changes any. */
extern void (*amid_change)(u32 *entry);

static inline u32 entry_read(const u32 *entry)
{
	return *entry;
}

static inline bool entry_add(u32 *entry, u32 *now, u32 bits)
{
	u32 old = *now;

	*now |= bits;
	if (*now == old)
		return true;
	if (amid_change != NULL)
		amid_change(entry);
	if (*entry != old)
		return false;
	*entry = *now;
	return true;
}

static inline bool entry_mark(u32 *entry, u32 now, u32 bits)
{
	return entry_add(entry, &now, bits);
}
