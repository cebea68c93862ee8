/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes instructions. A table says what each opcode is and what follows it; the rest reads
 * prefixes, ModR/M, SIB, displacement and immediate.
 */
#include "guests/x86/decode.h"

#include "lib/string.h"

/* Formats: what follows the opcode. */
#define F_MODRM 0x01    /* ModR/M, register or memory */
#define F_MEMORY 0x02   /* ModR/M, memory only */
#define F_REGISTER 0x04 /* ModR/M whose mod field is ignored: control registers */
#define F_OFFSET 0x08   /* address of a memory operand */
#define F_BYTE 0x10     /* immediate byte */
#define F_IMMEDIATE 0x20 /* immediate of the data's size */
#define F_ANY_MODRM (F_MODRM | F_MEMORY | F_REGISTER)
/* Bit 0 of the opcode is 0 for bytes and 1 for the operand size; the table has the opcode with
 * 0. */
#define F_WIDTH 0x40

/* TWO_BYTES marks opcodes behind 0F. ANY_REG: ModR/M's reg field is no part of the opcode. */
#define TWO_BYTES 0x0f00
#define ANY_REG 8

/* The table is searched from the start, so what guests execute most comes first. */
static const struct decode_entry {
	u16 opcode;
	u8 reg; /* field of the ModR/M byte, or ANY_REG */
	u8 operation, format;
} __attribute__((packed)) entries[] = {
	{ 0xc6, 0, DECODED_MOV_STORE, F_WIDTH | F_MODRM | F_IMMEDIATE },
	{ 0x88, ANY_REG, DECODED_MOV_STORE, F_WIDTH | F_MODRM },
	{ 0xa2, ANY_REG, DECODED_MOV_STORE, F_WIDTH | F_OFFSET },
	{ 0xcf, ANY_REG, DECODED_IRET, 0 },
	{ 0xec, ANY_REG, DECODED_IN, F_WIDTH },
	{ 0xee, ANY_REG, DECODED_OUT, F_WIDTH },
	{ 0xe4, ANY_REG, DECODED_IN, F_WIDTH | F_BYTE },
	{ 0xe6, ANY_REG, DECODED_OUT, F_WIDTH | F_BYTE },
	{ 0xf4, ANY_REG, DECODED_HLT, 0 },
	{ 0xfa, ANY_REG, DECODED_CLI, 0 },
	{ 0xfb, ANY_REG, DECODED_STI, 0 },
	{ 0x8e, ANY_REG, DECODED_MOV_TO_SREG, F_MODRM },
	{ 0x6c, ANY_REG, DECODED_INS, F_WIDTH },
	{ 0x6e, ANY_REG, DECODED_OUTS, F_WIDTH },
	{ TWO_BYTES | 0x22, ANY_REG, DECODED_MOV_TO_CR, F_REGISTER },
	{ TWO_BYTES | 0x20, ANY_REG, DECODED_MOV_FROM_CR, F_REGISTER },
	{ TWO_BYTES | 0x06, ANY_REG, DECODED_CLTS, 0 },
	{ TWO_BYTES | 0x01, 7, DECODED_INVLPG, F_MEMORY },
	{ TWO_BYTES | 0x23, ANY_REG, DECODED_MOV_TO_DR, F_REGISTER },
	{ TWO_BYTES | 0x21, ANY_REG, DECODED_MOV_FROM_DR, F_REGISTER },
	{ TWO_BYTES | 0x30, ANY_REG, DECODED_WRMSR, 0 },
	{ TWO_BYTES | 0x32, ANY_REG, DECODED_RDMSR, 0 },
	{ TWO_BYTES | 0x31, ANY_REG, DECODED_RDTSC, 0 },
	{ TWO_BYTES | 0x00, 2, DECODED_LLDT, F_MODRM },
	{ TWO_BYTES | 0x00, 3, DECODED_LTR, F_MODRM },
	{ TWO_BYTES | 0x01, 2, DECODED_LGDT, F_MEMORY },
	{ TWO_BYTES | 0x01, 3, DECODED_LIDT, F_MEMORY },
	{ TWO_BYTES | 0x01, 6, DECODED_LMSW, F_MODRM },
	{ TWO_BYTES | 0x08, ANY_REG, DECODED_INVD, 0 },
	{ TWO_BYTES | 0x09, ANY_REG, DECODED_WBINVD, 0 },
	{ TWO_BYTES | 0x0b, ANY_REG, DECODED_UD2, 0 },
	{ TWO_BYTES | 0x34, ANY_REG, DECODED_SYSENTER, 0 },
	{ TWO_BYTES | 0x35, ANY_REG, DECODED_SYSEXIT, 0 },
};

/* The bytes that are still to be read. `end` is at most 15. */
struct cursor {
	const u8 *bytes;
	u32 position, end;
	bool ended; /* more bytes were asked for than there are */
};

static u8 cursor_byte(struct cursor *cursor)
{
	if (cursor->position >= cursor->end) {
		cursor->ended = true;
		return 0;
	}
	return cursor->bytes[cursor->position++];
}

static u32 cursor_value(struct cursor *cursor, unsigned size)
{
	u32 value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (u32)cursor_byte(cursor) << (8 * i);
	return value;
}

/* Notes a prefix. Returns false if the byte is none. */
static bool decode_prefix(struct decoded *decoded, u8 byte)
{
	if ((byte & 0xe7) == 0x26) /* ES, CS, SS, DS */
		decoded->segment = byte >> 3 & 3;
	else if ((byte & 0xfe) == 0x64)
		decoded->segment = (u8)(SEGMENT_FS + (byte & 1));
	else if (byte == 0x66)
		decoded->operand_size = 2;
	else if (byte == 0xf0)
		decoded->lock = true;
	else
		return (byte & 0xfe) == 0xf2;
	return true;
}

#define SEGMENT_DEFAULT 0xff

static void decode_address(struct decoded *decoded, struct cursor *cursor, u8 mod)
{
	decoded->has_memory = true;
	decoded->base = decoded->rm;
	if (decoded->rm == REGISTER_ESP) {
		u8 sib = cursor_byte(cursor);

		decoded->base = sib & 7;
		decoded->scale = sib >> 6;
		if ((sib >> 3 & 7) != REGISTER_ESP)
			decoded->index = sib >> 3 & 7;
	}
	if (mod == 0 && decoded->base == REGISTER_EBP)
		decoded->base = REGISTER_NONE;
	/* A displacement of 8 bits is sign-extended; one of 32 bits needs nothing. */
	if (mod == 1)
		decoded->displacement = (cursor_byte(cursor) ^ 0x80u) - 0x80;
	else if (mod == 2 || decoded->base == REGISTER_NONE)
		decoded->displacement = cursor_value(cursor, 4);
	if (decoded->segment == SEGMENT_DEFAULT &&
	    (decoded->base == REGISTER_EBP || decoded->base == REGISTER_ESP))
		decoded->segment = SEGMENT_SS;
}

/* Reads ModR/M and what belongs to it. Returns false if there is no such instruction. */
static bool decode_modrm(struct decoded *decoded, struct cursor *cursor, u8 format)
{
	u8 modrm = cursor_byte(cursor);

	decoded->reg = modrm >> 3 & 7;
	decoded->rm = modrm & 7;
	if (modrm < 0xc0 && !(format & F_REGISTER))
		decode_address(decoded, cursor, modrm >> 6);
	return cursor->ended || decoded->has_memory || !(format & F_MEMORY);
}

/* Returns the entry of an opcode, or NULL. If the ModR/M byte is missing, any entry of the opcode
 * will do, since the bytes have ended. */
static const struct decode_entry *entry_find(const struct cursor *cursor, u16 opcode)
{
	const struct decode_entry *entry;
	bool at_end = cursor->position >= cursor->end;
	u8 reg = at_end ? 0 : cursor->bytes[cursor->position] >> 3 & 7;

	for (entry = entries; entry < &entries[ARRAY_SIZE(entries)]; entry++)
		if (entry->opcode == (entry->format & F_WIDTH ? opcode & ~1 : opcode) &&
		    (entry->reg == ANY_REG || entry->reg == reg || at_end))
			return entry;
	return NULL;
}

/* Decodes what follows the prefixes. Returns false if there is no such instruction; if the bytes
 * have ended, the result means nothing. */
static bool decode_opcode(struct decoded *decoded, struct cursor *cursor, u16 opcode)
{
	const struct decode_entry *entry = entry_find(cursor, opcode);

	if (entry == NULL)
		return false;
	decoded->operation = entry->operation;
	decoded->size = entry->format & F_WIDTH && !(opcode & 1) ? 1 : decoded->operand_size;
	if (entry->format & F_ANY_MODRM && !decode_modrm(decoded, cursor, entry->format))
		return false;
	if (entry->format & F_OFFSET) {
		decoded->has_memory = true;
		decoded->displacement = cursor_value(cursor, 4);
	}
	if (entry->format & (F_BYTE | F_IMMEDIATE)) {
		decoded->has_immediate = true;
		decoded->immediate =
			cursor_value(cursor, entry->format & F_BYTE ? 1 : decoded->size);
	}
	return decoded->operation != DECODED_MOV_TO_SREG ||
	       (decoded->reg != SEGMENT_CS && decoded->reg <= SEGMENT_GS);
}

enum decode_result decode(struct decoded *decoded, const u8 *bytes, u32 available)
{
	struct cursor cursor = { .bytes = bytes, .end = minimum(available, DECODE_LENGTH_MAXIMUM) };
	bool known;
	u16 opcode;

	*decoded = (struct decoded){
		.operand_size = 4, .segment = SEGMENT_DEFAULT,
		.base = REGISTER_NONE, .index = REGISTER_NONE,
	};
	do
		opcode = cursor_byte(&cursor);
	while (decode_prefix(decoded, (u8)opcode));
	if (opcode == 0x0f)
		opcode = TWO_BYTES | cursor_byte(&cursor);
	known = !cursor.ended && decode_opcode(decoded, &cursor, opcode);
	decoded->length = (u8)cursor.position;
	if (decoded->segment == SEGMENT_DEFAULT)
		decoded->segment = SEGMENT_DS;
	if (cursor.ended && cursor.end < DECODE_LENGTH_MAXIMUM)
		return DECODE_TRUNCATED;
	return known && !cursor.ended ? DECODE_OK : DECODE_UNKNOWN;
}

/* The mnemonics, in the order of enum decoded_operation. */
static const char names[] =
	"unknown\0" "lgdt\0" "lidt\0" "lldt\0" "ltr\0" "lmsw\0" "mov\0" "mov\0" "mov\0" "mov\0"
	"invlpg\0" "clts\0" "invd\0" "wbinvd\0" "hlt\0" "cli\0" "sti\0" "iret\0" "in\0" "out\0"
	"ins\0" "outs\0" "sysenter\0" "sysexit\0" "ud2\0" "rdmsr\0" "wrmsr\0" "rdtsc\0"
	"mov\0" "mov";

const char *decode_name(u8 operation)
{
	return string_of_list(names, operation < DECODED_OPERATIONS ? operation : DECODED_UNKNOWN);
}
