/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions about the machine that the drivers ask before they do anything. */
#pragma once

#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/processor-flags.h>

#include "gandalf.h"

/* Returns whether there is a VMM. On a bare machine nothing is mapped at the shared page. */
static inline bool on_gandalf(void)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;
	u32 version;

	return !get_kernel_nofault(version, &shared->abi_version) &&
	       version == GANDALF_ABI_VERSION;
}

/* Returns whether there is a VMM with virtual chips: in ring 1 the I/O privilege level says whether
 * port accesses enter it. PUSHF is used since Linux's own functions read the virtual interrupt flag
 * only. It must be called at the start, before a bare machine maps something else at that page. */
static inline bool on_shared_cpu(void)
{
	unsigned long flags;

	asm volatile("pushf; pop %0" : "=r" (flags));
	return on_gandalf() && !(flags & X86_EFLAGS_IOPL);
}
