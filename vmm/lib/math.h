/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes what C's operators do not give. Division of 64-bit values takes two divisions of the CPU
 * each: the VMM is linked without libgcc, so the operators / and % must not be used on 64-bit
 * values, and everything that converts times uses these functions.
 */
#pragma once

#include "lib/types.h"

/* Returns the quotient, and writes the remainder to *remainder unless that is NULL. divisor > 0. */
u64 divide_u64(u64 dividend, u32 divisor, u32 *remainder);

/*
 * Returns value * multiplier / divisor, rounded down or up. The product has 96 bits, so it does not
 * overflow. divisor > 0. Returns UINT64_MAX if the result does not fit.
 */
u64 multiply_divide(u64 value, u32 multiplier, u32 divisor);
u64 multiply_divide_up(u64 value, u32 multiplier, u32 divisor);

/* Of those that wait, a bit each, whose turn it is behind number turn: the next higher one, or else
 * the lowest. At least one waits. */
static INLINE u32 turn_behind(u32 turn, u32 waiting)
{
	u32 behind = waiting & ~0u << turn << 1;

	return (u32)__builtin_ctz(behind != 0 ? behind : waiting);
}
