/* SPDX-License-Identifier: Apache-2.0 */
/* The VMM's accesses to linear addresses of the Linux guest that runs. */
#pragma once

#include "arch/ia32/cpu.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/layout.h"
#include "core/vcpu.h"

/* false if any byte is not the guest's, or may not be written by its kernel; then
 * some may have been copied. */
MUST_CHECK bool guest_read(u32 linear, void *to, u32 size);
MUST_CHECK bool guest_write(u32 linear, const void *from, u32 size);
/* The same for the halves of a gate or a stack pointer, on the shortest way. */
MUST_CHECK static inline bool guest_read_8(u32 linear, u32 *low, u32 *high)
{
	return linear <= GANDALF_BASE - 8 && read_or_fail((const u32 *)linear, low, high);
}

/* Copies instruction bytes at EIP, up to the first that cannot be read; returns how many. The
 * vCPU is the current one: another's memory is not at these addresses. */
MUST_CHECK u32 guest_fetch(struct vcpu *vcpu, u8 *to, u32 size);
