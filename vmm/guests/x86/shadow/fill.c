/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the shadow at a page fault: the page that is wanted, and those near it that the guest has
 * used before. The frequent way is inline in shadow_fill(); seldom used ways are functions.
 */
#include "guests/x86/shadow/directory.h"
#include "guests/x86/shadow/view.h"
#include "guests/x86/shadow/walk.h"
#include "entry_access.h"

/* In an error code, where the CPU has no such bit: the access is the VMM's, for which the protected
 * page is as any other. */
#define FOR_VMM 0x80000000u

/* Fills entries near the one that faulted, where the guest has used the page before. cause is the
 * error code: where a process has faulted that has a view of its own, a page of the kernel alone
 * is left out, since that view is not shown anew before the process goes on (views_note()). */
static void prefill(struct x86 *x86, u32 *table, const u32 *guest, u32 pde, u32 cause)
{
	struct shadow *shadow = &x86->shadow;
	u32 wanted = PTE_P | PTE_A | (cause & PF_U & VIEWS_ALWAYS), filled = 0;

	for (u32 i = 0; i < PREFILL; i++) {
		u32 entry;

		/* Most are filled already, or absent in the guest's table. */
		if (table[i] != 0 || (~(entry = entry_read(&guest[i])) & wanted) != 0 ||
		    (entry & PTE_FRAME) >= shadow->memory_size)
			continue;
		table[i] = view_memory_entry(
			shadow, entry, views_note(x86, view_rights(entry, pde)), false);
		filled++;
	}
	x86->vcpu->counters[COUNTER_shadow_prefills] += filled;
}

static enum shadow_result write_target(const struct shadow *shadow, u32 frame, u32 error)
{
	if ((error & PF_W) == 0)
		return SHADOW_FILLED;
	if (frame >= shadow->memory_size)
		return view_is_apic(shadow, frame) ? SHADOW_APIC : SHADOW_OUTSIDE;
	return frame == shadow->protected_frame && (error & FOR_VMM) == 0 ? SHADOW_PROTECTED
									  : SHADOW_FILLED;
}

/* Makes the error code that of an absent page, for a fault of the guest. */
static inline enum shadow_result fill_absent(u32 *error)
{
	*error &= PF_W | PF_U;
	return SHADOW_FAULT;
}

/* Returns a page's entry in the shadow, or NULL and why, as directory_table() does. */
MUST_CHECK static INLINE u32 *fill_place(struct x86 *x86, u32 linear, enum shadow_result *why)
{
	u32 entry = directory_current(&x86->shadow)[directory_index(linear)];
	u32 *table;

	if (entry != 0 && (entry & PTE_PS) == 0)
		table = pool_pointer(entry & PTE_FRAME);
	else if ((table = directory_table(x86, directory_index(linear), why)) == NULL)
		return NULL;
	return &table[table_index(linear)];
}

/* Fills a page of the kernel half, or one whose frame is protected or not the guest's. */
static enum shadow_result fill_seldom(struct x86 *x86, u32 linear, u32 entry, u32 error)
{
	enum shadow_result result = write_target(&x86->shadow, entry & PTE_FRAME, error);
	u32 *place;

	if (linear >= GANDALF_BASE)
		return SHADOW_FAULT;
	if (result != SHADOW_FILLED)
		return result;
	place = fill_place(x86, linear, &result);
	if (place == NULL)
		return result;
	if (directory_index(linear) >= KERNEL_FIRST)
		directory_kernel_changes(&x86->shadow);
	*place = view_entry(x86, entry, directory_index(linear) >= KERNEL_FIRST);
	pool_mark(place);
	return SHADOW_FILLED;
}

static inline enum shadow_result fill_small(struct x86 *x86, u32 linear, u32 pde, u32 *error)
{
	struct shadow *shadow = &x86->shadow;
	u32 cause = *error;
	u32 entry, rights, frame = pde & PTE_FRAME;
	enum shadow_result why;
	u32 *guest, *place;

	if (frame >= shadow->memory_size)
		return fill_absent(error);
	guest = (u32 *)memory_window_frame(shadow->memory_base + frame) + table_index(linear);
	entry = entry_read(guest);
	if ((entry & PTE_P) == 0)
		return fill_absent(error);
	rights = view_rights(entry, pde);
	/* W and U have the same place in the error code as in an entry. */
	if ((cause & ~rights & (PF_W | PF_U)) != 0) {
		*error = (cause & (PF_W | PF_U)) | PF_P;
		return SHADOW_FAULT;
	}
	if (!entry_add(guest, &entry, PTE_A | (cause & PF_W) * (PTE_D / PF_W)))
		return SHADOW_CHANGED;
	frame = entry & PTE_FRAME;
	if (linear >= SHADOW_KERNEL || frame >= shadow->memory_size ||
	    frame == shadow->protected_frame)
		return fill_seldom(x86, linear, view_restricted(entry, pde), cause);
	place = fill_place(x86, linear, &why);
	if (place == NULL)
		return why;
	*place = view_memory_entry(shadow, entry, views_note(x86, rights), true);
	pool_mark(place);
	/* Fills the neighbours, unless the shadow had an entry (they were filled with it), or the
	 * guest has just made this page for a write (they are not used yet). */
	if ((cause & PF_P) == 0 && ((cause & PF_W) == 0 || x86->vcpu->shared->cr2 != linear)) {
		u32 before = (u32)place / sizeof(u32) % PREFILL;

		prefill(x86, place - before, guest - before, pde, cause);
	}
	return SHADOW_FILLED;
}

/* entry is what *guest was when it was found to be a large page. */
static enum shadow_result fill_large(struct x86 *x86, u32 linear, u32 *error, u32 *guest,
				     u32 entry)
{
	struct shadow *shadow = &x86->shadow;
	u32 cause = (*error & (PF_W | PF_U | FOR_VMM)) | PF_P, small;

	*error = cause;
	if (linear >= GANDALF_BASE || (cause & ~entry & (PF_W | PF_U)) != 0)
		return SHADOW_FAULT;
	if (!entry_add(guest, &entry, PTE_A | (cause & PF_W) * (PTE_D / PF_W)))
		return SHADOW_CHANGED;
	small = view_large_as_small(entry, linear);
	if (!view_large_fits(shadow, entry) ||
	    write_target(shadow, small & PTE_FRAME, cause) != SHADOW_FILLED)
		return fill_seldom(x86, linear, small, cause);
	directory_set_large(x86, directory_index(linear), entry);
	return SHADOW_FILLED;
}

/* Fills the identity, while paging is off: reads behind the guest's memory find ones. */
static enum shadow_result fill_identity(struct x86 *x86, u32 linear, const u32 *error)
{
	u32 *directory = pool_pointer(x86->shadow.identity);
	u32 *entry = &directory[directory_index(linear)];
	u32 *table;

	if (linear < x86->shadow.memory_size)
		return SHADOW_FILLED;
	if (linear >= GANDALF_BASE)
		return SHADOW_FAULT;
	if (*error & PF_W)
		return SHADOW_OUTSIDE;
	if (*entry == 0) {
		u32 frame = space_frame_allocate(x86);

		if (frame == 0)
			return SHADOW_FULL;
		*entry = frame | PTE_P | PTE_U | PTE_A;
	}
	table = pool_pointer(*entry & PTE_FRAME);
	table[table_index(linear)] = x86->shadow.nothing | PTE_P | PTE_U | PTE_A | PTE_D;
	return SHADOW_FILLED;
}

enum shadow_result shadow_fill(struct x86 *x86, u32 linear, u32 *error)
{
	u32 *guest = x86->shadow.guest_directory;
	u32 pde;

	if (guest == NULL && x86->shadow.current == NULL)
		return fill_identity(x86, linear, error);
	if ((guest == NULL || *x86->shadow.guest_window != x86->shadow.guest_window_entry) &&
	    (guest = walk_directory(x86)) == NULL)
		return fill_absent(error);
	guest += directory_index(linear);
	pde = entry_read(guest);
	if ((pde & PTE_P) == 0)
		return fill_absent(error);
	vcpu_count(x86->vcpu, COUNTER_shadow_fills);
	if (walk_is_large(x86, pde))
		return fill_large(x86, linear, error, guest, pde);
	if (!entry_mark(guest, pde, PTE_A))
		return SHADOW_CHANGED;
	return fill_small(x86, linear, pde, error);
}

bool shadow_fill_for_vmm(struct vcpu *vcpu, u32 linear, u32 error)
{
	error = (error & PF_W) | views_for_process(vcpu) | FOR_VMM;
	if (linear >= GANDALF_BASE || views_hide(vcpu, linear))
		return false;
	return shadow_repeats(shadow_fill(vcpu->x86, linear, &error));
}

/* The VMM's store ignores protection, so the shadow must show the page that the guest's tables have
 * now, even if it is the protected one. As long as a sibling changes an entry between the VMM's
 * look at it and what the VMM adds, the shadow may show an older page, which must not be
 * written. */
bool shadow_make_writable(struct x86 *x86, u32 linear)
{
	enum shadow_result result;
	u32 error;

	do {
		error = PF_W | FOR_VMM;
		result = shadow_fill(x86, linear, &error);
	} while (result == SHADOW_CHANGED);
	/* The VMM has not faulted here, so the CPU may still have the old entry cached, perhaps of
	 * a page that the guest must not write. */
	invlpg(linear);
	return result == SHADOW_FILLED;
}

void *shadow_protected_page(const struct shadow *shadow)
{
	return memory_window_frame(shadow->memory_base + shadow->protected_frame);
}
