/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises single instructions of any kind of guest by their first bytes, for the ways that must
 * take few instructions. All else is decoded by guests/x86/decode.h. Where code is a parameter it
 * has the instruction's first four bytes, the first one lowest.
 */
#pragma once

#include "lib/types.h"

/* The length of each MOV from or to a control register, in bytes. */
#define DECODE_CR_LENGTH 3u

/* Return whether the instruction is MOV from CR2 or MOV to CR3, the most frequent of all: each page
 * fault has the one, each switch of address spaces the other. The general register is rm, bits 16
 * to 18. */
static inline bool decode_reads_cr2(u32 code)
{
	return (code & 0xf8ffff) == 0xd0200f;
}

static inline bool decode_loads_cr3(u32 code)
{
	return (code & 0xf8ffff) == 0xd8220f;
}

/* Returns whether the instruction stores a register of 32 bits to an address that it contains, as
 * all stores of Linux to its GDT do. Sets the register's number and the instruction's length in
 * bytes. */
MUST_CHECK static inline bool decode_stores_register(u32 code, u32 *number, u32 *length)
{
	if (__builtin_expect((code & 0xc7ff) == 0x0589, true)) {
		*number = code >> 11 & 7;
		*length = 6;
		return true;
	}
	*number = 0; /* EAX */
	*length = 5;
	return (u8)code == 0xa3;
}

/* Returns whether the instruction that begins with this byte is HLT. */
static inline bool decode_halts(u8 code)
{
	return code == 0xf4;
}

/* Returns whether the instruction that begins with this byte is IRET. */
static inline bool decode_returns(u8 code)
{
	return code == 0xcf;
}

/* Returns whether the instruction is INVLPG of what a register points to, of three bytes. The
 * register, which is never ESP or EBP, is rm. */
static inline bool decode_invalidates_page(u32 code)
{
	return (code & 0xf8ffff) == 0x38010f && (code >> 16 & 6) != 4;
}

/* Returns whether the instruction is IN or OUT of a byte. */
static inline bool decode_moves_port_byte(u32 code)
{
	return (code & 0xf5) == 0xe4;
}

/* Returns of such an instruction whether it is OUT, and whether its second byte is the port, which
 * is otherwise in DX. */
static inline bool decode_is_out(u32 code)
{
	return (code & 2) != 0;
}

static inline bool decode_has_port(u32 code)
{
	return (code & 8) == 0;
}
