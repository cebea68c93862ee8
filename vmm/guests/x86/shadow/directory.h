/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of shadow page directories, and the page tables that they lead to.
 */
#pragma once

#include "guests/x86/x86.h"
#include "guests/x86/shadow/part.h"

/* The bits of an entry that leads to a page table, whose entries say what may be done. */
#define DIRECTORY_TABLE_BITS (PTE_P | PTE_W | PTE_U | PTE_A)

static inline u32 *directory_current(const struct shadow *shadow)
{
	return pool_pointer(shadow->current->directory);
}

/* Forgets protected_page. It must be called before each change of an entry of the kernel half. */
static inline void directory_kernel_changes(struct shadow *shadow)
{
	shadow->protected_page = 0;
}

/* Writes an entry of the current directory, or one of the kernel half in all directories. */
void directory_set(struct shadow *shadow, u32 index, u32 entry);
/* Clears an entry, and frees the page table that it leads to. */
void directory_drop(struct shadow *shadow, u32 index);
/* Makes an entry map a large page, as the guest's directory entry pde says. */
void directory_set_large(struct x86 *x86, u32 index, u32 pde);
/* Returns the page table of an entry. Makes one if there is none, in the place of a large page,
 * too. Returns NULL, and says why, if it cannot: SHADOW_FULL, the pool has no frame left;
 * SHADOW_FILLED, the access must be repeated, and then leads here again. */
MUST_CHECK u32 *directory_table(struct x86 *x86, u32 index, enum shadow_result *why);
