/* SPDX-License-Identifier: GPL-2.0-only */
/* What our drivers ask before they do anything. */
#pragma once

#include <linux/irqflags.h>
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
 * VMM. */
static inline bool on_shared_cpu(void)
{
	return on_gandalf() && !(native_save_fl() & X86_EFLAGS_IOPL);
}
