/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes from the shadow what the guest's TLB would not know any more.
 */
#include "core/trace.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/kernel.h"
#include "guests/x86/shadow/tlb.h"
#include "masked_state.h"

/* Up to here pages are invalidated one by one, beyond it the TLB is flushed. */
#define FLUSH_SINGLE_PAGES 8u
/* A larger range is flushed by dropping the space: a bound for the time. */
#define FLUSH_RANGE (4 * LARGE_PAGE_SIZE)

static void space_zap_page(struct space *space, u32 linear)
{
	u32 *directory = pool_pointer(space->directory);
	u32 *entry = &directory[directory_index(linear)];

	if (*entry == 0)
		return;
	if (*entry & PTE_PS)
		*entry = 0;
	else
		((u32 *)pool_pointer(*entry & PTE_FRAME))[table_index(linear)] = 0;
}

COLD void shadow_invalidate(struct pc *pc, u32 linear)
{
	vcpu_count(pc->vcpu, COUNTER_invalidations);
	if (pc->shadow.current == NULL)
		return;
	if (directory_index(linear) >= KERNEL_FIRST)
		kernel_resync_page(pc, linear);
	else
		space_zap_page(pc->shadow.current, linear);
	if (linear < GANDALF_BASE)
		invlpg(linear);
}

static void space_flush_pages(struct pc *pc, struct space *space, u32 linear, u32 end)
{
	for (; linear < end; linear += PAGE_SIZE) {
		space_zap_page(space, linear);
		if (space == pc->shadow.current)
			invlpg(linear);
	}
}

/* Empties the part of a page table that an address is in, up to an end, if it has entries at all;
 * a large page, all of it. Returns the address behind. */
COLD static u32 space_zap_part(struct space *space, u32 linear, u32 end)
{
	u32 *entry = (u32 *)pool_pointer(space->directory) + directory_index(linear);
	u32 next = (linear & ~(PART * PAGE_SIZE - 1)) + PART * PAGE_SIZE;
	u32 *table;

	if (*entry == 0 || (*entry & PTE_PS)) {
		*entry = 0;
		return (linear & PTE_LARGE_FRAME) + LARGE_PAGE_SIZE;
	}
	if (*pool_marks(*entry & PTE_FRAME) >> table_index(linear) / PART & 1) {
		table = pool_pointer(*entry & PTE_FRAME);
		for (end = minimum(end, next); linear < end; linear += PAGE_SIZE)
			table[table_index(linear)] = 0;
	}
	return next;
}

static void space_flush_range(struct pc *pc, struct space *space, u32 linear, u32 end)
{
	u32 guest = space->guest;

	while (linear < end) {
		bool points = pc->point != NULL;

		linear = space_zap_part(space, linear, end);
		pc_point(pc);
		if (points && (space = space_find(&pc->shadow, guest)) == NULL)
			return;
	}
	if (space == pc->shadow.current)
		tlb_flush();
}

void shadow_flush(struct pc *pc, u32 guest_directory, u32 start, u32 end)
{
	struct shadow *shadow = &pc->shadow;
	struct space *space;

	EXPECTS_OPEN(pc->vcpu);
	vcpu_count(pc->vcpu, COUNTER_flushes);
	shadow->caching = true;
	space = space_find(shadow, guest_directory & PTE_FRAME);
	if (space == NULL) {
		vcpu_count(pc->vcpu, COUNTER_flush_misses);
		return;
	}
	if (end > SHADOW_KERNEL || (start < end && end - start > FLUSH_RANGE)) {
		space_drop(space, pc);
		if (space == shadow->current)
			tlb_flush();
	} else if (start < end) {
		start &= PTE_FRAME;
		if (end - start <= FLUSH_SINGLE_PAGES * PAGE_SIZE)
			space_flush_pages(pc, space, start, end);
		else
			space_flush_range(pc, space, start, end);
	}
}

COLD void shadow_flush_all(struct pc *pc)
{
	if (pc->shadow.current == NULL)
		return;
	space_drop(pc->shadow.current, pc);
	kernel_sync(pc);
	tlb_flush_global();
}

COLD void shadow_protect(struct pc *pc, u32 guest_frame)
{
	if (pc->shadow.protected_frame == guest_frame)
		return;
	directory_kernel_changes(&pc->shadow);
	pc->shadow.protected_frame = guest_frame;
	for (u32 i = 0; i < pc->shadow.space_limit; i++)
		space_drop(space_at(&pc->shadow, i), pc);
	shadow_flush_all(pc);
}
