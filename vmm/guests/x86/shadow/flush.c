/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes from the shadow the entries that a flush would remove from the guest's TLB.
 */
#include "core/trace.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/kernel.h"
#include "guests/x86/shadow/tlb.h"
#include "masked_state.h"
#include "siblings.h"
#include "views.h"

/* Up to so many pages are invalidated one by one; for more the TLB is flushed. */
#define FLUSH_SINGLE_PAGES 8u
/* A range of more bytes is flushed by dropping the space, which bounds the time. */
#define FLUSH_RANGE (4 * LARGE_PAGE_SIZE)

static void space_zap_page(struct space *space, u32 linear)
{
	u32 *directory = pool_pointer(space->directory);
	u32 *entry = &directory[directory_index(linear)];

	if (*entry == 0)
		return;
	if (*entry & PTE_PS) {
		*entry = 0;
		views_follow(space, directory_index(linear), 0);
	} else {
		((u32 *)pool_pointer(*entry & PTE_FRAME))[table_index(linear)] = 0;
	}
}

void shadow_invalidate(struct x86 *x86, u32 linear)
{
	vcpu_count(x86->vcpu, COUNTER_invalidations);
	if (x86->shadow.current == NULL)
		return;
	if (directory_index(linear) >= KERNEL_FIRST) {
		flush_of_kernel_page(x86, linear);
		kernel_resync_page(x86, linear);
	} else {
		space_zap_page(x86->shadow.current, linear);
	}
	if (linear < GANDALF_BASE)
		invlpg(linear);
}

static void space_flush_pages(struct x86 *x86, struct space *space, u32 linear, u32 end)
{
	for (; linear < end; linear += PAGE_SIZE) {
		space_zap_page(space, linear);
		if (space == x86->shadow.current)
			invlpg(linear);
	}
}

/* Empties the part of a page table that an address is in, up to end, if it has entries at all.
 * Drops a large page as a whole. Returns the address behind. */
static u32 space_zap_part(struct space *space, u32 linear, u32 end)
{
	u32 *entry = (u32 *)pool_pointer(space->directory) + directory_index(linear);
	u32 next = (linear & ~(PART * PAGE_SIZE - 1)) + PART * PAGE_SIZE;
	u32 *table;

	if (*entry == 0 || (*entry & PTE_PS)) {
		*entry = 0;
		views_follow(space, directory_index(linear), 0);
		return (linear & PTE_LARGE_FRAME) + LARGE_PAGE_SIZE;
	}
	if (*pool_marks(*entry & PTE_FRAME) >> table_index(linear) / PART & 1) {
		table = pool_pointer(*entry & PTE_FRAME);
		for (end = minimum(end, next); linear < end; linear += PAGE_SIZE)
			table[table_index(linear)] = 0;
	}
	return next;
}

static void space_flush_range(struct x86 *x86, struct space *space, u32 linear, u32 end)
{
	u32 guest = space->guest;

	while (linear < end) {
		bool points = x86_has_points(x86);

		linear = space_zap_part(space, linear, end);
		x86_point(x86);
		if (points && (space = space_find(&x86->shadow, guest)) == NULL)
			return;
	}
	if (space == x86->shadow.current)
		views_flush();
}

void shadow_flush(struct x86 *x86, u32 guest_directory, u32 start, u32 end)
{
	struct shadow *shadow = &x86->shadow;
	struct space *space;

	EXPECTS_UNMASKED(x86->vcpu);
	vcpu_count(x86->vcpu, COUNTER_flushes);
	shadow->caching = true;
	space = space_find(shadow, guest_directory & PTE_FRAME);
	/* What is not loaded is compared when it is. */
	if (space == NULL || (views_detect() && space != shadow->current)) {
		vcpu_count(x86->vcpu, COUNTER_flush_misses);
		return;
	}
	if (end > SHADOW_KERNEL || (start < end && end - start > FLUSH_RANGE)) {
		space_drop(space, x86);
		if (space == shadow->current)
			views_flush();
	} else if (start < end) {
		start &= PTE_FRAME;
		if (end - start <= FLUSH_SINGLE_PAGES * PAGE_SIZE)
			space_flush_pages(x86, space, start, end);
		else
			space_flush_range(x86, space, start, end);
	}
}

void shadow_flush_all(struct x86 *x86)
{
	if (x86->shadow.current == NULL)
		return;
	flush_of_all(x86);
	space_drop(x86->shadow.current, x86);
	kernel_sync(x86);
	tlb_flush_global();
}

void shadow_forget(struct x86 *x86)
{
	directory_kernel_changes(&x86->shadow);
	for (u32 i = 0; i < x86->shadow.space_limit; i++)
		space_drop(space_at(&x86->shadow, i), x86);
	shadow_flush_all(x86);
}

void shadow_protect(struct x86 *x86, u32 guest_frame)
{
	if (x86->shadow.protected_frame == guest_frame)
		return;
	x86->shadow.protected_frame = guest_frame;
	shadow_forget(x86);
}
