/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes those instructions only that the VMM emulates for its guests, or names when
 * it refuses them: the ones that trap in ring 1, and the plain stores that a guest may
 * use on a page that the VMM has write-protected. Code is 32-bit code with 32-bit
 * addresses.
 */
#pragma once

#include "lib/types.h"

enum decoded_operation {
	DECODED_UNKNOWN,
	/* The memory operand has 6 bytes: limit and base. */
	DECODED_LGDT, DECODED_LIDT,
	/* The operand has 16 bits and is register rm or memory. */
	DECODED_LLDT, DECODED_LTR, DECODED_LMSW,
	/* reg is the number of the CR or DR, rm the general register. */
	DECODED_MOV_FROM_CR, DECODED_MOV_TO_CR, DECODED_MOV_FROM_DR, DECODED_MOV_TO_DR,
	DECODED_INVLPG, /* memory operand */
	DECODED_CLTS, DECODED_INVD, DECODED_WBINVD, DECODED_HLT, DECODED_CLI, DECODED_STI,
	DECODED_IRET, /* operand_size: 2 or 4 */
	/* size is 1, 2 or 4; the port is in immediate if has_immediate, else in DX. */
	DECODED_IN, DECODED_OUT,
	/* The first five are refused and have only names; the others have no operand. */
	DECODED_INS, DECODED_OUTS, DECODED_SYSENTER, DECODED_SYSEXIT, DECODED_UD2,
	DECODED_RDMSR, DECODED_WRMSR, DECODED_RDTSC,
	/* Loads segment register reg (SEGMENT_..., never CS) from register rm or memory. */
	DECODED_MOV_TO_SREG,
	/* Stores 1, 2 or 4 bytes (size) into register rm or memory, from register reg or, with
	 * has_immediate, from immediate. */
	DECODED_MOV_STORE,
	DECODED_OPERATIONS
};

/* The CPU's numbers of the segment registers. */
enum decoded_segment { SEGMENT_ES, SEGMENT_CS, SEGMENT_SS, SEGMENT_DS, SEGMENT_FS, SEGMENT_GS };

/* The CPU's numbers of the general registers, which register_pointer() takes. */
enum decoded_register {
	REGISTER_EAX, REGISTER_ECX, REGISTER_EDX, REGISTER_EBX,
	REGISTER_ESP, REGISTER_EBP, REGISTER_ESI, REGISTER_EDI, REGISTER_NONE
};

enum decode_result {
	DECODE_OK,
	DECODE_UNKNOWN,  /* an instruction that is not decoded, or none at all */
	DECODE_TRUNCATED /* could be one that is decoded, but goes on behind the given bytes */
};

#define DECODE_LENGTH_MAXIMUM 15

struct decoded {
	u8 operation;    /* enum decoded_operation */
	u8 length;       /* bytes, 1..15 */
	u8 operand_size; /* 2 or 4 */
	u8 size;         /* of the data moved: 1, 2 or 4 */
	u8 segment;      /* enum decoded_segment of the memory operand, default or overridden */
	bool lock;       /* a LOCK prefix, with which all of these instructions raise #UD */
	bool has_memory, has_immediate;
	u8 reg, rm;      /* fields of the ModR/M byte, 0 without one */
	/* The memory operand is at displacement + base + (index << scale) in its segment. */
	u8 base, index;  /* enum decoded_register */
	u8 scale;        /* 0..3 */
	u32 displacement, immediate;
};

/*
 * Decodes the instruction at bytes, of which `available` may be read; more than 15 are never
 * read. The fields of *decoded mean something for DECODE_OK only, except for the segment, which is
 * set by a prefix in front of any instruction.
 */
enum decode_result decode(struct decoded *decoded, const u8 *bytes, u32 available);

/* Returns the mnemonic of an operation, for reports and traces. */
const char *decode_name(u8 operation);
