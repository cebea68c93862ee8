/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of shadow page directories, and the page tables that they lead to.
 */
#pragma once

#include "guests/x86/x86.h"
#include "guests/x86/shadow/part.h"

static inline u32 *directory_current(const struct shadow *shadow)
{
	return pool_pointer(shadow->current->directory);
}

/* Every change of an entry of the kernel half comes here first. */
static inline void directory_kernel_changes(struct shadow *shadow)
{
	shadow->protected_page = 0;
}

/* Writes an entry of the current directory; in the kernel half, of all of them. */
void directory_set(struct shadow *shadow, u32 index, u32 entry);
/* Clears one, and frees the page table that it leads to. */
void directory_drop(struct shadow *shadow, u32 index);
/* Puts a large page there, as the guest's directory entry says. */
void directory_set_large(struct x86 *x86, u32 index, u32 pde);
/* The page table there, made if it does not exist; a large page in its place goes in any case.
 * NULL: there is none, and why: SHADOW_FULL, no frame of the pool is left; SHADOW_FILLED, the
 * access is to be repeated, and comes here again. */
MUST_CHECK u32 *directory_table(struct x86 *x86, u32 index, enum shadow_result *why);
