/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills what a guest's kernel has just mapped for a process that had faulted, when it returns to
 * the process. Each return passes the VMM in any case, so this saves the process a second fault.
 *
 * It runs with interrupts masked if the return takes the direct way. So it makes no page table, for
 * which a frame might have to be zeroed or others freed, and the whole way takes at most 900
 * instructions with it (the masked section way_of_process). Where there is no page table yet, the
 * process faults once more. It changes nothing of the guest: a page is filled only as the guest's
 * entry says that it has been used (PTE_A), and is writable only if that is dirty already.
 */
#include "core/core.h"
#include "entry_access.h"
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/view.h"
#include "guests/x86/shadow/walk.h"

/* Fills an entry of the shadow's page table as *guest and the guest's directory entry say. Pages
 * that are the kernel's alone are left out, since the process's view is about to be shown. */
static INLINE u32 ahead_fill_entry(const struct shadow *shadow, u32 *entry, const u32 *guest,
				   u32 pde)
{
	u32 value = entry_read(guest);

	if ((~value & (PTE_P | PTE_A | PTE_U)) != 0 || (value & PTE_FRAME) >= shadow->memory_size)
		return 0;
	*entry = view_memory_entry(shadow, value, view_rights(value, pde), false);
	return 1;
}

/* Fills the entries of the shadow's page table near one, where there is nothing. It is prefill() of
 * fill.c without what that notes for a page of the kernel's (views_note()), which would cost three
 * instructions per page here, where interrupts may be masked. */
static u32 ahead_fill_near(const struct shadow *shadow, u32 *place, const u32 *guest, u32 pde)
{
	u32 before = (u32)place / sizeof(u32) % PREFILL;
	u32 filled = 0;

	place -= before;
	guest -= before;
	for (u32 i = 0; i < PREFILL; i++)
		if (place[i] == 0)
			filled += ahead_fill_entry(shadow, &place[i], &guest[i], pde);
	return filled;
}

/* Returns the guest's entry for a page below the kernel half, or NULL if it cannot be filled from
 * that. *pde becomes the directory entry that leads there. */
static INLINE const u32 *ahead_find(struct x86 *x86, u32 linear, u32 *pde)
{
	struct shadow *shadow = &x86->shadow;
	const u32 *guest = shadow->guest_directory;

	if ((guest == NULL || *shadow->guest_window != shadow->guest_window_entry) &&
	    (guest = walk_directory(x86)) == NULL)
		return NULL;
	*pde = entry_read(&guest[directory_index(linear)]);
	if ((~*pde & (PTE_P | PTE_A | PTE_U)) != 0 || walk_is_large(x86, *pde) ||
	    (*pde & PTE_FRAME) >= shadow->memory_size)
		return NULL;
	return (const u32 *)memory_window_frame(shadow->memory_base + (*pde & PTE_FRAME)) +
	       table_index(linear);
}

void views_fill_awaited(void)
{
	struct x86 *x86 = core.current->x86;
	struct vcpu_view *view = &x86->vcpu->view;
	u32 awaited = view->awaited;
	const u32 *guest;
	u32 *place;
	u32 entry, pde;

	view->awaited = 0;
	views_follow_load(x86);
	if (view->awaited_space != x86->shadow.current || x86->shadow.current == NULL)
		return;
	entry = directory_current(&x86->shadow)[directory_index(awaited)];
	if ((entry & (PTE_P | PTE_PS)) != PTE_P ||
	    (guest = ahead_find(x86, awaited, &pde)) == NULL)
		return;
	place = (u32 *)pool_pointer(entry & PTE_FRAME) + table_index(awaited);
	if (ahead_fill_entry(&x86->shadow, place, guest, pde) == 0)
		return;
	pool_mark(place);
	view_switch.fills++;
	if ((awaited & VIEW_SWITCH_AWAITED_NEAR) != 0)
		x86->vcpu->counters[COUNTER_shadow_prefills] +=
			ahead_fill_near(&x86->shadow, place, guest, pde);
}
