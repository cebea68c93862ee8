/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the instructions that the VMM emulates for its guests, or names when it
 * refuses them, and no others: those that trap in ring 1, and the plain stores that
 * a guest may use on a page that the VMM has write-protected. Code is 32-bit code
 * with 32-bit addresses.
 */
#pragma once

#include "lib/types.h"

enum decoded_operation {
	DECODED_UNKNOWN,
	/* Memory operand: 6 bytes, limit and base. */
	DECODED_LGDT, DECODED_LIDT,
	/* 16-bit operand: register rm or memory. */
	DECODED_LLDT, DECODED_LTR, DECODED_LMSW,
	/* CR or DR number in reg, general register in rm. */
	DECODED_MOV_FROM_CR, DECODED_MOV_TO_CR, DECODED_MOV_FROM_DR, DECODED_MOV_TO_DR,
	DECODED_INVLPG, /* memory operand */
	DECODED_CLTS, DECODED_INVD, DECODED_WBINVD, DECODED_HLT, DECODED_CLI, DECODED_STI,
	DECODED_IRET, /* operand_size: 2 or 4 */
	/* size 1, 2 or 4; port in immediate if has_immediate, else in DX. */
	DECODED_IN, DECODED_OUT,
	/* Known by name only. */
	DECODED_INS, DECODED_OUTS, DECODED_SYSENTER, DECODED_SYSEXIT, DECODED_UD2,
	DECODED_RDMSR, DECODED_WRMSR,
	/* Segment register in reg (SEGMENT_..., never CS), 16 bits from register rm or memory. */
	DECODED_MOV_TO_SREG,
	/* Size 1, 2 or 4, to register rm or memory, from register reg or, with has_immediate,
	 * from immediate. */
	DECODED_MOV_STORE,
	DECODED_OPERATIONS
};

/* The CPU's numbers of the segment registers. */
enum decoded_segment { SEGMENT_ES, SEGMENT_CS, SEGMENT_SS, SEGMENT_DS, SEGMENT_FS, SEGMENT_GS };

/* The CPU's numbers of the general registers: indices into registers[] below. */
enum decoded_register {
	REGISTER_EAX, REGISTER_ECX, REGISTER_EDX, REGISTER_EBX,
	REGISTER_ESP, REGISTER_EBP, REGISTER_ESI, REGISTER_EDI, REGISTER_NONE
};

enum decode_result {
	DECODE_OK,
	DECODE_UNKNOWN,  /* not one of ours, or not an instruction at all */
	DECODE_TRUNCATED /* could be one, but goes on behind the bytes given */
};

#define DECODE_LENGTH_MAXIMUM 15

struct decoded {
	u8 operation;    /* enum decoded_operation */
	u8 length;       /* bytes, 1..15 */
	u8 operand_size; /* 2 or 4 */
	u8 size;         /* of the data moved: 1, 2 or 4 */
	u8 segment;      /* of the memory operand, default or overridden */
	bool lock;       /* no instruction here takes it: a #UD on the CPU */
	bool has_memory, has_immediate;
	u8 reg, rm;      /* fields of the ModR/M byte, 0 without one */
	/* The memory operand is at displacement + base + (index << scale) in its segment. */
	u8 base, index;  /* REGISTER_NONE: none */
	u8 scale;        /* 0..3 */
	u32 displacement, immediate;
};

/*
 * Decodes the instruction at bytes, of which available may be read (more than
 * 15 are of no use). The fields of *decoded mean something for DECODE_OK only, but for the segment,
 * which a prefix names in front of any instruction.
 */
enum decode_result decode(struct decoded *decoded, const u8 *bytes, u32 available);

/*
 * The same for what Linux executes most, in a tenth of the time: MOV to CR3, INVLPG of what a
 * register points to, IRET, IN and OUT of bytes. code: the first four bytes. false: another one.
 */
MUST_CHECK static inline bool decode_frequent(struct decoded *decoded, u32 code)
{
	u32 form = code & 0xf8ffff;

	decoded->length = 3;
	decoded->operand_size = 4;
	decoded->rm = decoded->base = code >> 16 & 7;
	decoded->lock = decoded->has_memory = decoded->has_immediate = false;
	if (form == 0xd8220f) {
		decoded->operation = DECODED_MOV_TO_CR;
		decoded->reg = 3;
	} else if (form == 0x38010f && (decoded->base & 6) != REGISTER_ESP) {
		decoded->operation = DECODED_INVLPG;
		decoded->has_memory = true;
		decoded->segment = SEGMENT_DS;
		decoded->index = REGISTER_NONE;
		decoded->displacement = 0;
	} else if ((u8)code == 0xcf) {
		decoded->operation = DECODED_IRET;
		decoded->length = 1;
	} else if ((code & 0xf5) == 0xe4) {
		decoded->operation = code & 2 ? DECODED_OUT : DECODED_IN;
		decoded->size = 1;
		decoded->has_immediate = (code & 8) == 0;
		decoded->length = 1 + decoded->has_immediate;
		decoded->immediate = (u8)(code >> 8);
	} else {
		return false;
	}
	return true;
}

/* The most frequent of all, where each page fault has one: MOV from CR2, of three bytes. */
static inline bool decode_reads_cr2(u32 code)
{
	return (code & 0xf8ffff) == 0xd0200f;
}

/* MOV of a register to an address that is in the instruction, of 32 bits: the only stores that
 * Linux makes to its GDT. length: of the instruction. */
MUST_CHECK static inline bool decode_stores_register(u32 code, u32 *number, u32 *length)
{
	if (__builtin_expect((code & 0xc7ff) == 0x0589, true)) {
		*number = code >> 11 & 7;
		*length = 6;
		return true;
	}
	*number = REGISTER_EAX;
	*length = 5;
	return (u8)code == 0xa3;
}

/* Whether the instruction that begins with this byte is HLT. */
static inline bool decode_halts(u8 code)
{
	return code == 0xf4;
}

/* The mnemonic, for reports and traces. */
const char *decode_name(u8 operation);
