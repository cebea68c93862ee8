/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the life of shadow page tables. An entry is never more permissive than the guest's entry
 * was at some time since its last flush. It names memory of the guest; for reading it may also name
 * the page of ones or the guest's local APIC. It is writable only once the guest's dirty bit is
 * set.
 *
 * This file gives a guest its shadow, loads the space that its CR3 names, and takes all back.
 */
#include "arch/ia32/switch.h"
#include "core/core.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "guests/x86/x86.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/kernel.h"
#include "guests/x86/shadow/tlb.h"
#include "lib/string.h"
#include "siblings.h"
#include "views.h"

static struct space *space_for_load(struct x86 *x86, u32 guest)
{
	struct shadow *shadow = &x86->shadow;
	struct space *space = space_find(shadow, guest);
	const struct vcpu *vcpu = x86->vcpu;

	trace_fast(vcpu, TRACE_cr3, guest, space != NULL);
	if (space != NULL) {
		vcpu_count(x86->vcpu, COUNTER_space_hits);
		space_is_found(x86, space);
		return space;
	}
	vcpu_count(x86->vcpu, COUNTER_space_misses);
	if ((shadow->current != NULL && !shadow->caching) ||
	    (shadow->caching && !views_make_room(x86)))
		return space_reuse(shadow, guest);
	return space_create(x86, guest);
}

void shadow_load(struct x86 *x86, u32 cr3)
{
	struct shadow *shadow = &x86->shadow;
	bool same = x86->cr3 == cr3;
	struct space *space;

	x86->cr3 = cr3;
	vcpu_count(x86->vcpu, COUNTER_cr3_loads);
	if ((x86->cr0 & CR0_PG) == 0)
		return;
	space = space_for_load(x86, cr3 & PTE_FRAME);
	if (space == NULL) {
		vm_stop(x86->vm, "the pool has no frame for its page tables");
		return;
	}
	shadow->guest_directory = NULL;
	if (views_detect())
		views_compare(x86, space);
	else if (same || !shadow->caching)
		space_drop(space, NULL);
	space_load(x86, space);
	if ((x86->cr4 & CR4_PGE) == 0 || shadow->local_kernel || shadow->syncing) {
		kernel_sync(x86);
		tlb_flush_global();
	}
}

static void identity_load(struct x86 *x86)
{
	x86->shadow.current = NULL;
	x86->shadow.guest_directory = NULL;
	directory_kernel_changes(&x86->shadow);
	views_follow_load(x86);
	switch_directory(x86->vcpu, x86->shadow.identity);
	tlb_flush_global();
	/* Turning paging off empties a TLB, so no space survives it. */
	spaces_free(&x86->shadow);
}

void shadow_set_paging(struct x86 *x86)
{
	flush_of_all(x86);
	if (x86->cr0 & CR0_PG) {
		x86->shadow.local_kernel = true; /* so that the load rebuilds it */
		shadow_load(x86, x86->cr3);
	} else if (x86->shadow.current != NULL) {
		identity_load(x86);
	}
}

static void master_fill(struct x86 *x86)
{
	u32 *master = pool_pointer(x86->shadow.master);
	u32 *identity = pool_pointer(x86->shadow.identity);

	memcpy(&master[KERNEL_END], &memory_directory[KERNEL_END],
	       (ENTRIES - KERNEL_END) * sizeof(u32));
	master[KERNEL_END] = x86->vcpu->table_frame | PTE_P | PTE_W | PTE_A | VIEWS_ALWAYS;
	memcpy(&identity[KERNEL_END], &master[KERNEL_END], (ENTRIES - KERNEL_END) * sizeof(u32));
	/* The pages are ring 3's, too, so that no access to existing memory faults. */
	for (u32 i = 0; i < x86->shadow.memory_size >> LARGE_PAGE_SHIFT; i++) {
		if (i % GROUP == 0)
			schedule_admit();
		identity[i] = (x86->shadow.memory_base + (i << LARGE_PAGE_SHIFT)) | PTE_P | PTE_W |
			      PTE_U | PTE_PS | PTE_A | PTE_D;
	}
}

bool shadow_create(struct x86 *x86)
{
	struct shadow *shadow = &x86->shadow;

	shadow->memory_base = x86->vm->guest->memory_base;
	shadow->memory_size = x86->vm->guest->memory_size;
	for (u32 i = 0; i < ARRAY_SIZE(shadow->frames); i++) {
		shadow->frames[i] = pool_allocate();
		if (shadow->frames[i] == 0)
			return false;
	}
	memset(pool_pointer(shadow->nothing), 0xff, PAGE_SIZE);
	return true;
}

void shadow_reset(struct x86 *x86)
{
	master_fill(x86);
	x86->shadow.current = NULL;
	x86->shadow.guest_directory = NULL;
	x86->shadow.caching = views_detect();
	x86->shadow.protected_frame = SHADOW_NO_FRAME;
	directory_kernel_changes(&x86->shadow);
	views_follow_load(x86);
	x86->vcpu->cr3 = x86->shadow.identity;
}

void shadow_destroy(struct vcpu *vcpu)
{
	struct shadow *shadow = &vcpu->x86->shadow;
	u32 *master = pool_pointer(shadow->master);
	u32 *identity = pool_pointer(shadow->identity);

	switch_leave_space(vcpu);
	shadow->current = NULL;
	spaces_free(shadow);
	for (u32 i = 0; i < KERNEL_END; i += GROUP) {
		space_group_drop(&master[i]);
		space_group_drop(&identity[i]);
		schedule_admit();
	}
}
