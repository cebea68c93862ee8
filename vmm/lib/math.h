/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit arithmetic that a 32-bit CPU does in two or three divisions. The VMM
 * is linked without libgcc, so the operators / and % must not be used on 64-bit
 * values; everything that converts time goes through here.
 */
#pragma once

#include "lib/types.h"

/* Quotient; the remainder goes to *remainder unless it is NULL. divisor > 0. */
u64 divide_u64(u64 dividend, u32 divisor, u32 *remainder);

/*
 * value * multiplier / divisor with 96 bits in between, rounded down or up.
 * divisor > 0; UINT64_MAX if the result does not fit.
 */
u64 multiply_divide(u64 value, u32 multiplier, u32 divisor);
u64 multiply_divide_up(u64 value, u32 multiplier, u32 divisor);
