/* SPDX-License-Identifier: Apache-2.0 */
/* The VMM's accesses to linear addresses of the Linux guest that runs. */
#pragma once

#include "arch/ia32/cpu.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/layout.h"
#include "core/vcpu.h"

/* Copy size bytes from or to the guest. Return false if a byte is not the guest's, or may not be
 * written by its kernel; some bytes may have been copied then. */
MUST_CHECK bool guest_read(u32 linear, void *to, u32 size);
MUST_CHECK bool guest_write(u32 linear, const void *from, u32 size);
/* Reads eight bytes likewise, such as those of a gate, in the fewest instructions. */
MUST_CHECK static inline bool guest_read_8(u32 linear, u32 *low, u32 *high)
{
	return linear <= GANDALF_BASE - 8 && read_or_fail((const u32 *)linear, low, high);
}

/* Copies the instruction bytes at EIP, up to the first one that cannot be read. Returns how many.
 * The vCPU must be the current one, since only its memory is at these addresses. */
MUST_CHECK u32 guest_fetch(struct vcpu *vcpu, u8 *to, u32 size);
