/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest whose page tables are there, with directories that map the same, for the tests of
 * shadow.c that look at single pages; and what its handlers do amid long work.
 */
#ifndef GANDALF_SHADOW_MAPPED_H
#define GANDALF_SHADOW_MAPPED_H

#include "guests/x86/shadow/shadow_guest.h"

#define USER_TABLE 0x9000u
#define KERNEL_TABLE 0xa000u
#define USER_SLOTS 6u
#define READY (PTE_P | PTE_W | PTE_A | PTE_D)
/* Behind every page that these tests flush. */
#define FAR_PAGE 0x1400000u
#define KERNEL_PAGE 0xc0005000u

/* What the VMM finds at a point of long work. */
static unsigned points_seen, points_with_short_way;
/* What the guest's handler does at the first of them; or NULL. */
static void (*at_first_point)(void);

/* Own stand-ins: upcall_point() counts, and is where a test changes something. */
void upcall_point(struct x86 *which)
{
	assert_ptr_equal(which, &x86);
	points_seen++;
	points_with_short_way += x86.shadow.protected_page != 0;
	if (points_seen == 1 && at_first_point != NULL)
		at_first_point();
}

/* Six tables of a process; a table and a large page of the kernel, global both. */
static int mapped_start(void **state)
{
	(void)state;
	guest_start(100);
	points_seen = points_with_short_way = 0;
	at_first_point = NULL;
	for (u32 page = 0; page < 1024; page++) {
		entry_set(USER_TABLE + page * 4, page << 12 | READY | PTE_U);
		entry_set(KERNEL_TABLE + page * 4, page << 12 | READY | PTE_G);
	}
	for (u32 i = 0; i < ARRAY_SIZE(directories); i++) {
		directories[i] = 0x200000 + i * PAGE_SIZE;
		for (u32 slot = 0; slot < USER_SLOTS; slot++)
			entry_set(pde_address(i, slot), USER_TABLE | PTE_P | PTE_W | PTE_U);
		entry_set(pde_address(i, 0x300), KERNEL_TABLE | PTE_P | PTE_W);
		entry_set(pde_address(i, 0x301), READY | PTE_PS | PTE_G);
	}
	x86.cr4 = CR4_PSE | CR4_PGE;
	x86.cr3 = directories[0];
	cr0_load(CR0_PE | CR0_PG);
	x86.shadow.caching = true;
	return 0;
}

static u32 rebuilds(void)
{
	return vcpu.counters[COUNTER_kernel_syncs];
}

static bool is_shadowed(u32 linear)
{
	bool global;

	return shadow_walk(processor.cr3, linear, &global).present;
}

/* The processor remembers a page from now on, at that place; other accesses share place 0. */
static void tlb_fetch(u32 linear, u32 place)
{
	u32 seed = 0, state;

	do
		state = ++seed;
	while (random_next(&state) % ARRAY_SIZE(tlb) != place);
	tlb_drop_page(linear);
	random_state = seed;
	assert_true(tlb_walk(linear).present);
	random_state = 0;
}

static void pages_fill(u32 first, u32 end)
{
	for (u32 page = first; page < end; page++)
		access_and_check(page << 12, PF_U);
}

#endif
