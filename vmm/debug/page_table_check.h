/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks for debug builds of what one shadow page table, or a directory's entries, may hold.
 */
#pragma once

#include "guests/x86/shadow/part.h"

struct x86;

/* The bits that each entry has: one that maps a page, and one that names a page table. */
#define LEAF (PTE_P | PTE_A | PTE_D)
#define TABLE (PTE_P | PTE_W | PTE_U | PTE_A)

/* Counts the entries that have been looked at, which is what the checks cost. */
extern u32 entries_looked_at;

/* Returns whether all of the entries are 0. */
MUST_CHECK bool is_zero(const u32 *entries, u32 count);
/* The functions below panic if something is wrong. linear is the address that the first entry
 * maps; kernel says whether it is in the half that all spaces share. This one checks an entry that
 * maps a large page. */
void large_check(const struct x86 *x86, u32 linear, u32 entry, bool kernel);
/* Checks the entries of a page table that one mark stands for. */
void part_check(const struct x86 *x86, u32 linear, const u32 *entries, bool kernel);
/* Checks a page table, given by its frame, and claims that frame. */
void page_table_check(const struct x86 *x86, u32 linear, u32 frame, bool kernel);
/* Checks a directory's entries from first to before end, and the page tables that they name. */
void entries_check(const struct x86 *x86, const u32 *directory, u32 first, u32 end);
