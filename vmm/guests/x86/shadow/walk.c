/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks through the guest's own page tables, for questions that are asked seldom.
 */
#include "guests/x86/shadow/walk.h"

#include "entry_access.h"
#include "guests/x86/shadow/view.h"

u32 *walk_directory(struct x86 *x86)
{
	struct shadow *shadow = &x86->shadow;

	shadow->guest_directory = walk_entry(x86, x86->cr3, 0);
	if (shadow->guest_directory == NULL)
		return NULL;
	shadow->guest_window =
		&memory_windows[((u32)shadow->guest_directory - LAYOUT_WINDOWS) >> PAGE_SHIFT];
	shadow->guest_window_entry = *shadow->guest_window;
	return shadow->guest_directory;
}

bool shadow_translate(struct x86 *x86, u32 linear, u32 *frame)
{
	const u32 *entry;
	u32 pde, pte;

	if (x86->shadow.current == NULL)
		return false;
	entry = walk_entry(x86, x86->cr3, directory_index(linear));
	if (entry == NULL || ((pde = entry_read(entry)) & PTE_P) == 0)
		return false;
	*frame = view_large_as_small(pde, linear) & PTE_FRAME;
	if (walk_is_large(x86, pde))
		return true;
	entry = walk_entry(x86, pde, table_index(linear));
	if (entry == NULL || ((pte = entry_read(entry)) & PTE_P) == 0)
		return false;
	*frame = pte & PTE_FRAME;
	return true;
}
