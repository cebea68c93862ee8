/* SPDX-License-Identifier: GPL-2.0-only */
/* What each of our drivers asks before it does anything. */
#pragma once

#include <linux/types.h>
#include <linux/uaccess.h>

#include "gandalf.h"

/* Whether there is a VMM: on a bare machine nothing is mapped at its page. */
static inline bool on_gandalf(void)
{
	const struct gandalf_shared *shared = (const void *)GANDALF_SHARED_PAGE;
	u32 version;

	return !get_kernel_nofault(version, &shared->abi_version) &&
	       version == GANDALF_ABI_VERSION;
}
