/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the instructions that cost an IA-32 processor far more than others, and those that change
 * the interrupt flag, from the rest. 32-bit and 64-bit code; called once for each translated
 * instruction.
 */
#include "decode.h"

#define REX_R 0x4u

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* The extension of the opcode in a ModRM byte, and whether its operand is in memory. */
static unsigned extension(uint8_t modrm)
{
	return modrm >> 3 & 7;
}
static bool is_memory(uint8_t modrm)
{
	return modrm < 0xc0;
}

/* REX.R makes it one of CR8 to CR15. */
static enum event decode_control(uint8_t modrm, uint8_t rex)
{
	if (rex & REX_R)
		return EVENT_NONE;
	switch (extension(modrm)) {
	case 0:
		return EVENT_CR0_LOAD;
	case 3:
		return EVENT_CR3_LOAD;
	case 4:
		return EVENT_CR4_LOAD;
	default:
		return EVENT_NONE;
	}
}

/* 0F 01: LGDT, LIDT, LMSW, INVLPG, SWAPGS */
static enum event decode_system(uint8_t modrm)
{
	if (modrm == 0xf8)
		return EVENT_SWAPGS;
	switch (extension(modrm)) {
	case 2:
	case 3:
		return is_memory(modrm) ? EVENT_TABLE_LOAD : EVENT_NONE;
	case 6:
		return EVENT_CR0_LOAD;
	case 7:
		return is_memory(modrm) ? EVENT_INVLPG : EVENT_NONE;
	default:
		return EVENT_NONE;
	}
}

static enum event decode_two_bytes(uint8_t opcode, uint8_t modrm, uint8_t rex)
{
	switch (opcode) {
	case 0x00: /* LLDT, LTR */
		return extension(modrm) == 2 || extension(modrm) == 3 ? EVENT_TABLE_LOAD :
									EVENT_NONE;
	case 0x01:
		return decode_system(modrm);
	case 0x05: /* SYSCALL */
	case 0x34: /* SYSENTER */
		return EVENT_SYSCALL;
	case 0x07: /* SYSRET */
	case 0x35: /* SYSEXIT */
		return EVENT_SYSRET;
	case 0x06: /* CLTS */
		return EVENT_CR0_LOAD;
	case 0x22:
		return decode_control(modrm, rex);
	case 0xa1: /* POP FS */
	case 0xa9: /* POP GS */
	case 0xb2: /* LSS */
	case 0xb4: /* LFS */
	case 0xb5: /* LGS */
		return EVENT_SEGMENT_LOAD;
	default:
		return EVENT_NONE;
	}
}

static enum event decode_one_byte(uint8_t opcode, uint8_t modrm)
{
	switch (opcode) {
	case 0x07: /* POP ES */
	case 0x17: /* POP SS */
	case 0x1f: /* POP DS */
	case 0x8e: /* MOV to a segment register */
	case 0xc4: /* LES */
	case 0xc5: /* LDS */
		return EVENT_SEGMENT_LOAD;
	case 0x9a: /* CALL */
	case 0xca: /* RET */
	case 0xcb:
	case 0xea: /* JMP */
		return EVENT_FAR_TRANSFER;
	case 0xff:
		return extension(modrm) == 3 || extension(modrm) == 5 ? EVENT_FAR_TRANSFER :
									EVENT_NONE;
	case 0xcc ... 0xce:
		return EVENT_INT;
	case 0xcf:
		return EVENT_IRET;
	case 0x6c ... 0x6f:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xef:
		return EVENT_PORT;
	case 0xf4:
		return EVENT_HLT;
	case 0xfa:
		return EVENT_CLI;
	case 0xfb:
		return EVENT_STI;
	default:
		return EVENT_NONE;
	}
}

/* What is another instruction in 64-bit mode, or none: C4 and C5 are VEX prefixes there. */
static bool is_only32(uint8_t opcode)
{
	switch (opcode) {
	case 0x07:
	case 0x17:
	case 0x1f:
	case 0x9a:
	case 0xc4:
	case 0xc5:
	case 0xce:
	case 0xea:
		return true;
	default:
		return false;
	}
}

enum event decode(const uint8_t *bytes, size_t size, bool code64)
{
	uint8_t rex = 0;
	size_t at = 0;
	bool two_bytes;

	while (at < size && is_prefix(bytes[at]))
		at++;
	if (code64 && at < size && (bytes[at] & 0xf0) == 0x40)
		rex = bytes[at++];
	two_bytes = at + 1 < size && bytes[at] == 0x0f;
	at += two_bytes;
	if (at >= size)
		return EVENT_NONE;
	uint8_t modrm = at + 1 < size ? bytes[at + 1] : 0;

	if (two_bytes)
		return decode_two_bytes(bytes[at], modrm, rex);
	return code64 && is_only32(bytes[at]) ? EVENT_NONE : decode_one_byte(bytes[at], modrm);
}
