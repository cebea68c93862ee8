/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one shadow page table, or a directory's entries, may hold, for debug builds.
 */
#pragma once

#include "guests/x86/shadow/part.h"

struct x86;

#define LEAF (PTE_P | PTE_A | PTE_D)
#define TABLE (PTE_P | PTE_W | PTE_U | PTE_A)

/* How many entries have been looked at: what the checks cost. */
extern u32 entries_looked_at;

/* All panic if something is not as it must be. kernel: of the half that all spaces share. */
MUST_CHECK bool is_zero(const u32 *entries, u32 count);
void large_check(const struct x86 *x86, u32 linear, u32 entry, bool kernel);
/* The entries that a mark stands for, of a page table. */
void part_check(const struct x86 *x86, u32 linear, const u32 *entries, bool kernel);
void page_table_check(const struct x86 *x86, u32 linear, u32 frame, bool kernel);
/* Of a directory, with the tables that they lead to. */
void entries_check(const struct x86 *x86, const u32 *directory, u32 first, u32 end);
