/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the compiled system description (abi/table.h) before anything in it is believed. The host
 * tool has checked the same rules and explains mistakes better. Here the question is whether the
 * module has arrived whole and cannot harm the VMM.
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
 * Checks a table, and panics with a sentence if something is wrong. available is the size of the
 * module in bytes. The VMM's machine memory, which no guest may have, begins at vmm_base and ends
 * in front of vmm_behind. The caller checks that the memory that is named exists, and that it does
 * not hold the module itself.
 */
void table_check(const struct gandalf_table *table, u32 available, u32 vmm_base,
		 u32 vmm_behind);

/* Checks one image, in a table that table_check() has found good, by the checksum of its bytes.
 * Panics with a sentence if they are damaged. */
void table_check_image(const struct gandalf_table *table, const struct gandalf_image *image,
		       u32 checksum);
