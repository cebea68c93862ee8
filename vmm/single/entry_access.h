/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and changes entries of a guest's page tables in an image for guests with one vCPU. That
 * vCPU does nothing meanwhile, so a load and a store are enough. several/entry_access.h is for
 * guests with several.
 */
#pragma once

#include "lib/types.h"

/* Reads an entry. */
static inline u32 entry_read(const u32 *entry)
{
	return *entry;
}

/* Adds bits to an entry that was *now just now, and gives what it is then. Returns true. */
static inline bool entry_add(u32 *entry, u32 *now, u32 bits)
{
	*entry = *now |= bits;
	return true;
}

/* The same for a directory entry, of which nobody needs to know what it is then. */
static inline bool entry_mark(u32 *entry, UNUSED u32 now, u32 bits)
{
	*entry |= bits;
	return true;
}
