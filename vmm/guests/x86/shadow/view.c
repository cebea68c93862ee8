/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the shadow entries of pages that are seldom filled: those of the kernel, the protected one,
 * and those that are not memory of the guest.
 */
#include "guests/x86/shadow/view.h"

#include "siblings.h"

u32 view_entry(struct x86 *x86, u32 entry, bool kernel)
{
	struct shadow *shadow = &x86->shadow;
	u32 frame = entry & PTE_FRAME;
	bool global = (entry & PTE_G) != 0 && (x86->cr4 & CR4_PGE) != 0;
	u32 result = PTE_P | PTE_A | PTE_D | VIEWS_ALWAYS | (entry & PTE_U);

	/* At a load of CR3 the guest's TLB would forget entries that are not global, so the shadow
	 * notes that there are such, and rebuilds the kernel half then. */
	shadow->local_kernel |= kernel && !global;
	if (!kernel)
		(void)views_note(x86, entry);
	if (frame >= shadow->memory_size)
		return result | (view_is_apic(shadow, frame)
					 ? apic_frame(shadow, frame) | PTE_PCD
					 : shadow->nothing);
	/* It may be the kernel's or a large page, which are not global by views_global(). */
	result = view_memory_entry(shadow, entry, entry, false) & ~views_global(PTE_U);
	return kernel && global ? result | global_entry(x86) : result;
}
