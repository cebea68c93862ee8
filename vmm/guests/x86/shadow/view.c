/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shadow entries of pages that are filled seldom: of the kernel, protected, or not memory of
 * the guest.
 */
#include "guests/x86/shadow/view.h"

u32 view_entry(struct x86 *x86, u32 entry, bool kernel)
{
	struct shadow *shadow = &x86->shadow;
	u32 frame = entry & PTE_FRAME;
	bool global = (entry & PTE_G) != 0 && (x86->cr4 & CR4_PGE) != 0;
	u32 result = PTE_P | PTE_A | PTE_D | (entry & PTE_U);

	/* What a load of CR3 has the guest's own TLB forget is looked for anew then. */
	shadow->local_kernel |= kernel && !global;
	if (frame >= shadow->memory_size)
		return result | (view_is_apic(shadow, frame) ? frame | PTE_PCD : shadow->nothing);
	result = view_memory_entry(shadow, entry, entry, false);
	return kernel && global ? result | PTE_G : result;
}
