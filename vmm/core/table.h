/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the compiled system description before anything in it is believed.
 * The host tool has checked the same rules, in more words; here the question is
 * whether the module arrived whole and cannot harm the VMM.
 */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/*
 * NULL if the table is good, else message, which holds a sentence that says what
 * is wrong. available: bytes of the module; vmm_base..vmm_end: machine memory of
 * the VMM, which no guest may have. That the memory named exists, and that it does
 * not hold the module itself, is for the caller to check.
 */
const char *table_check(const struct gandalf_table *table, u32 available, u32 vmm_base,
			u32 vmm_end, char *message, u32 message_size);

/*
 * The same for the bytes of one image, 0..image_count - 1, of a table that
 * table_check() has found good: takes a few instructions per byte.
 */
const char *table_image_check(const struct gandalf_table *table, u32 index, char *message,
			      u32 message_size);
