/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the compiled system description before anything in it is believed.
 * The host tool has checked the same rules, in more words; here the question is
 * whether the module arrived whole and cannot harm the VMM.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* The bytes of all pools, which lie one behind the other. */
static inline u32 table_pool_size(const struct gandalf_table *table)
{
	return table->pool_size * table->cpus;
}

/*
 * Stops the VMM with a sentence that says what is wrong, if anything is. available: bytes
 * of the module; the VMM's machine memory, which no guest may have, is vmm_base to
 * vmm_behind. That the memory named exists, and that it does not hold the module itself, is
 * for the caller to check.
 */
void table_check(const struct gandalf_table *table, u32 available, u32 vmm_base,
		 u32 vmm_behind);

/*
 * The same for the bytes of one image of a table that table_check() has found good: takes
 * a few instructions per byte.
 */
void table_check_image(const struct gandalf_table *table, const struct gandalf_image *image);
