/* SPDX-License-Identifier: GPL-2.0-only */
/* How Linux tells another guest that something has changed in memory that both share. */
#pragma once

#include <linux/types.h>

#include "gandalf.h"

/* Rings the guest of a place. Returns 0 or a negative error of the VMM's. */
static inline long doorbell(u32 place)
{
	long result;

	asm volatile("int %[vector]"
		     : "=a" (result)
		     : [vector] "i" (GANDALF_HYPERCALL_VECTOR), "0" (GANDALF_HYPERCALL_DOORBELL),
		       "b" (place)
		     : "memory");
	return result;
}
