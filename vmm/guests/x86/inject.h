/* SPDX-License-Identifier: Apache-2.0 */
/* Injects interrupts and exceptions into a Linux guest, through its own IDT. */
#pragma once

#include "guests/x86/x86.h"

/* Copies the kernel's stack from the guest's TSS into the real TSS, where gates to ring 1 find
 * it. */
void inject_reload_stack(struct x86 *x86);

/* Stands for an exception without an error code. No error code has all its bits set. */
#define INJECT_NO_ERROR (~0u)
/* Builds the frame that the CPU would have built on the guest's stack, and has the guest go on at
 * its handler. Returns false, and has stopped the guest and left its registers alone, if its IDT
 * or stack cannot be used. */
MUST_CHECK bool inject(struct x86 *x86, unsigned vector, u32 error);
/* Injects as the last step of an entry's work, where nobody needs to know whether that stopped the
 * guest: the return to it finds out. */
static inline void inject_last(struct x86 *x86, unsigned vector, u32 error)
{
	if (!inject(x86, vector, error))
		return;
}
/* Injects a page fault likewise, and sets the guest's CR2. */
void inject_page_fault(struct x86 *x86, u32 linear, u32 error);
/* Injects a #GP with this error code likewise. */
void inject_general_protection(struct x86 *x86, u32 error);
