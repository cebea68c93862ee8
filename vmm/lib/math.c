/* SPDX-License-Identifier: Apache-2.0 */
/* Does 64-bit arithmetic by means of DIV, which divides 64 bits by 32. */
#include "lib/math.h"

/* Divides high:low. high < divisor, since the CPU raises #DE if the quotient does not fit. */
static inline u32 divide_step(u32 high, u32 low, u32 divisor, u32 *remainder)
{
	u32 quotient;

	__asm__("divl %[divisor]"
		: "=a"(quotient), "=d"(*remainder)
		: "0"(low), "1"(high), [divisor] "rm"(divisor) : "cc");
	return quotient;
}

u64 divide_u64(u64 dividend, u32 divisor, u32 *remainder)
{
	u32 high = (u32)(dividend >> 32);
	u32 rest;
	u32 low = divide_step(high % divisor, (u32)dividend, divisor, &rest);

	if (remainder != NULL)
		*remainder = rest;
	return (u64)(high / divisor) << 32 | low;
}

static u64 multiply_and_divide(u64 value, u32 multiplier, u32 divisor, u32 *remainder)
{
	u64 low = (value & UINT32_MAX) * multiplier;
	u64 high = (value >> 32) * multiplier + (low >> 32);
	u32 rest = (u32)(high >> 32);
	u32 quotient_high, quotient_low;

	*remainder = 0;
	if (rest >= divisor)
		return UINT64_MAX;
	quotient_high = divide_step(rest, (u32)high, divisor, &rest);
	quotient_low = divide_step(rest, (u32)low, divisor, remainder);
	return (u64)quotient_high << 32 | quotient_low;
}

u64 multiply_divide(u64 value, u32 multiplier, u32 divisor)
{
	u32 remainder;

	return multiply_and_divide(value, multiplier, divisor, &remainder);
}

u64 multiply_divide_up(u64 value, u32 multiplier, u32 divisor)
{
	u32 remainder;
	u64 quotient = multiply_and_divide(value, multiplier, divisor, &remainder);

	return remainder != 0 && quotient != UINT64_MAX ? quotient + 1 : quotient;
}
