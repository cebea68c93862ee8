/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow page tables. An entry here is never more permissive than the guest's
 * at some time since its last flush, names only memory of the guest, or for reading its
 * local APIC, and is writable only after the guest's dirty bit has been set.
 *
 * This file gives a guest its shadow, loads the space that its CR3 names, and takes all back.
 */
#include "arch/ia32/switch.h"
#include "core/core.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "guests/x86/pc.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/kernel.h"
#include "guests/x86/shadow/tlb.h"
#include "lib/string.h"

static struct space *space_for_load(struct pc *pc, u32 guest)
{
	struct shadow *shadow = &pc->shadow;
	struct space *space = space_find(shadow, guest);

	trace_fast(pc->vcpu->id, TRACE_cr3, guest, space != NULL);
	if (space != NULL) {
		vcpu_count(pc->vcpu, COUNTER_space_hits);
		return space;
	}
	vcpu_count(pc->vcpu, COUNTER_space_misses);
	if (!shadow->caching && shadow->current != NULL)
		return space_reuse(shadow, guest);
	return space_create(pc, guest);
}

void shadow_load(struct pc *pc, bool same)
{
	struct shadow *shadow = &pc->shadow;
	struct space *space;

	vcpu_count(pc->vcpu, COUNTER_cr3_loads);
	if ((pc->cr0 & CR0_PG) == 0)
		return;
	space = space_for_load(pc, pc->cr3 & PTE_FRAME);
	if (space == NULL) {
		vm_stop(pc->vm, "the pool has no frame left for its page tables");
		return;
	}
	shadow->guest_directory = NULL;
	if (same || !shadow->caching)
		space_drop(space, NULL);
	space_load(pc, space);
	if ((pc->cr4 & CR4_PGE) == 0 || shadow->local_kernel || shadow->syncing) {
		kernel_sync(pc);
		tlb_flush_global();
	}
}

COLD static void identity_load(struct pc *pc)
{
	pc->shadow.current = NULL;
	pc->shadow.guest_directory = NULL;
	directory_kernel_changes(&pc->shadow);
	pc->vcpu->cr3 = core.cr3 = pc->shadow.identity;
	cr3_write(pc->shadow.identity);
	tlb_flush_global();
	/* What is not cached must not come back with paging. */
	spaces_free(&pc->shadow);
}

COLD void shadow_set_paging(struct pc *pc)
{
	if (pc->cr0 & CR0_PG) {
		pc->shadow.local_kernel = true; /* so that the load rebuilds it */
		shadow_load(pc, true);
	} else if (pc->shadow.current != NULL) {
		identity_load(pc);
	}
}

COLD static void master_fill(struct pc *pc)
{
	u32 *master = pool_pointer(pc->shadow.master);
	u32 *identity = pool_pointer(pc->shadow.identity);

	memcpy(&master[KERNEL_END], &memory_directory[KERNEL_END],
	       (ENTRIES - KERNEL_END) * sizeof(u32));
	master[KERNEL_END] = pc->vcpu->table_frame | PTE_P | PTE_W | PTE_A;
	memcpy(&identity[KERNEL_END], &master[KERNEL_END], (ENTRIES - KERNEL_END) * sizeof(u32));
	/* For ring 3 too, so that nothing faults that is there. */
	for (u32 i = 0; i < pc->shadow.memory_size >> LARGE_PAGE_SHIFT; i++) {
		if (i % GROUP == 0)
			schedule_breathe();
		identity[i] = (pc->shadow.memory_base + (i << LARGE_PAGE_SHIFT)) | PTE_P | PTE_W |
			      PTE_U | PTE_PS | PTE_A | PTE_D;
	}
}

COLD bool shadow_create(struct pc *pc)
{
	struct shadow *shadow = &pc->shadow;
	u32 *frames[] = {&shadow->master, &shadow->identity, &shadow->nothing,
			 &shadow->space_frames[0], &shadow->space_frames[1]};

	shadow->memory_base = pc->vm->guest->memory_base;
	shadow->memory_size = pc->vm->guest->memory_size;
	for (u32 i = 0; i < ARRAY_SIZE(frames); i++) {
		*frames[i] = pool_allocate();
		if (*frames[i] == 0)
			return false;
	}
	memset(pool_pointer(shadow->nothing), 0xff, PAGE_SIZE);
	return true;
}

COLD void shadow_reset(struct pc *pc)
{
	master_fill(pc);
	pc->shadow.current = NULL;
	pc->shadow.guest_directory = NULL;
	pc->shadow.caching = false;
	pc->shadow.protected_frame = SHADOW_NO_FRAME;
	directory_kernel_changes(&pc->shadow);
	pc->vcpu->cr3 = pc->shadow.identity;
}

COLD void shadow_destroy(struct vcpu *vcpu)
{
	struct shadow *shadow = &vcpu->pc->shadow;
	u32 *master = pool_pointer(shadow->master);
	u32 *identity = pool_pointer(shadow->identity);

	switch_leave_space(vcpu);
	shadow->current = NULL;
	spaces_free(shadow);
	for (u32 i = 0; i < KERNEL_END; i += GROUP) {
		space_group_drop(&master[i]);
		space_group_drop(&identity[i]);
		schedule_breathe();
	}
}
