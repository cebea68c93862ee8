/* SPDX-License-Identifier: GPL-2.0-only */
/* What our drivers ask before they do anything. */
#pragma once

#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/processor-flags.h>

#include "gandalf.h"

/* Whether there is a VMM: on a bare machine nothing is mapped at its page. */
static inline bool on_gandalf(void)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;
	u32 version;

	return !get_kernel_nofault(version, &shared->abi_version) &&
	       version == GANDALF_ABI_VERSION;
}

/* Whether its chips are virtual: in ring 1 the I/O privilege level says whether ports enter the
 * VMM. Linux's own functions read the virtual interrupt flag, and no other one. To be asked before
 * anything else may be mapped at that page of a bare machine: at the start. */
static inline bool on_shared_cpu(void)
{
	unsigned long flags;

	asm volatile("pushf; pop %0" : "=r" (flags));
	return on_gandalf() && !(flags & X86_EFLAGS_IOPL);
}
