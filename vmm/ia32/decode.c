/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder: three tables (one-byte opcodes, opcodes behind 0F, groups that the
 * ModR/M byte tells apart) say what an opcode is and what follows it; the rest
 * is the reading of prefixes, ModR/M, SIB, displacement and immediate.
 */
#include "ia32/decode.h"

#include "lib/string.h"

/* What follows the opcode: bits 0..2 of the format. */
#define F_MODRM 1    /* ModR/M, register or memory */
#define F_MEMORY 2   /* ModR/M, memory only */
#define F_REGISTER 3 /* ModR/M whose mod field is ignored: control registers */
#define F_GROUP 4    /* ModR/M; the operation is the number of a group */
#define F_OPERAND 7
/* The data's size, where it is not the operand size: bits 3, 4. */
#define F_BYTE 0x08
#define F_WORD 0x10
/* Immediates: bits 5..7. */
#define F_IMMEDIATE_8 0x20
#define F_IMMEDIATE_16 0x40
#define F_IMMEDIATE 0x60 /* of operand size */
#define F_FAR 0x80       /* offset of operand size, selector */
#define F_OFFSET 0xa0    /* address of a memory operand, of address size */
#define F_IMMEDIATES 0xe0

enum {
	GROUP_0F00,
	GROUP_0F01,
	GROUP_MOV,
	GROUP_FF,
	GROUPS
};

struct decode_entry {
	u8 operation;
	u8 format;
};

/*
 * Most opcodes are not ours, so the tables hold runs of neighbours; the runs that
 * guests execute most come first, since they are looked through in turn.
 */
struct decode_run {
	u8 first; /* opcode */
	u8 count;
	u8 start; /* index of its entries */
};

static const struct decode_run one_byte_runs[] = {
	{ 0xec, 4, 0 },	 { 0xe4, 4, 4 },  { 0xcf, 1, 8 },  { 0xf4, 1, 9 },  { 0xfa, 2, 10 },
	{ 0x88, 4, 12 }, { 0xc4, 4, 16 }, { 0xa0, 4, 20 }, { 0x8e, 1, 24 }, { 0x9c, 2, 25 },
	{ 0x07, 1, 27 }, { 0x17, 1, 27 }, { 0x1f, 1, 27 }, { 0x6c, 4, 28 }, { 0x9a, 1, 32 },
	{ 0xca, 5, 33 }, { 0xea, 1, 38 }, { 0xff, 1, 39 },
};

static const struct decode_entry one_byte[] = {
	/* EC */
	{ DECODED_IN, F_BYTE },
	{ DECODED_IN, 0 },
	{ DECODED_OUT, F_BYTE },
	{ DECODED_OUT, 0 },
	/* E4 */
	{ DECODED_IN, F_BYTE | F_IMMEDIATE_8 },
	{ DECODED_IN, F_IMMEDIATE_8 },
	{ DECODED_OUT, F_BYTE | F_IMMEDIATE_8 },
	{ DECODED_OUT, F_IMMEDIATE_8 },
	/* CF, F4, FA */
	{ DECODED_IRET, 0 },
	{ DECODED_HLT, 0 },
	{ DECODED_CLI, 0 },
	{ DECODED_STI, 0 },
	/* 88 */
	{ DECODED_MOV_STORE, F_MODRM | F_BYTE },
	{ DECODED_MOV_STORE, F_MODRM },
	{ DECODED_MOV_LOAD, F_MODRM | F_BYTE },
	{ DECODED_MOV_LOAD, F_MODRM },
	/* C4 */
	{ DECODED_LOAD_FAR, F_MEMORY },
	{ DECODED_LOAD_FAR, F_MEMORY },
	{ GROUP_MOV, F_GROUP | F_BYTE | F_IMMEDIATE_8 },
	{ GROUP_MOV, F_GROUP | F_IMMEDIATE },
	/* A0 */
	{ DECODED_MOV_LOAD, F_OFFSET | F_BYTE },
	{ DECODED_MOV_LOAD, F_OFFSET },
	{ DECODED_MOV_STORE, F_OFFSET | F_BYTE },
	{ DECODED_MOV_STORE, F_OFFSET },
	/* 8E, 9C */
	{ DECODED_MOV_TO_SREG, F_MODRM | F_WORD },
	{ DECODED_PUSHF, 0 },
	{ DECODED_POPF, 0 },
	/* 07, 17, 1F */
	{ DECODED_POP_SREG, 0 },
	/* 6C */
	{ DECODED_INS, F_BYTE },
	{ DECODED_INS, 0 },
	{ DECODED_OUTS, F_BYTE },
	{ DECODED_OUTS, 0 },
	/* 9A */
	{ DECODED_CALL_FAR, F_FAR },
	/* CA */
	{ DECODED_RETF, F_IMMEDIATE_16 },
	{ DECODED_RETF, 0 },
	{ DECODED_INT3, 0 },
	{ DECODED_INT, F_IMMEDIATE_8 },
	{ DECODED_INTO, 0 },
	/* EA, FF */
	{ DECODED_JMP_FAR, F_FAR },
	{ GROUP_FF, F_GROUP },
};

static const struct decode_run two_byte_runs[] = {
	{ 0x20, 4, 0 },	 { 0x00, 2, 4 },  { 0x30, 6, 6 },  { 0x05, 5, 12 }, { 0x0b, 1, 17 },
	{ 0xa1, 1, 18 }, { 0xa9, 1, 18 }, { 0xb2, 1, 19 }, { 0xb4, 2, 19 },
};

/* Behind 0F. */
static const struct decode_entry two_byte[] = {
	/* 20 */
	{ DECODED_MOV_FROM_CR, F_REGISTER },
	{ DECODED_MOV_FROM_DR, F_REGISTER },
	{ DECODED_MOV_TO_CR, F_REGISTER },
	{ DECODED_MOV_TO_DR, F_REGISTER },
	/* 00 */
	{ GROUP_0F00, F_GROUP | F_WORD },
	{ GROUP_0F01, F_GROUP },
	/* 30 */
	{ DECODED_WRMSR, 0 },
	{ DECODED_RDTSC, 0 },
	{ DECODED_RDMSR, 0 },
	{ DECODED_RDPMC, 0 },
	{ DECODED_SYSENTER, 0 },
	{ DECODED_SYSEXIT, 0 },
	/* 05 */
	{ DECODED_SYSCALL, 0 },
	{ DECODED_CLTS, 0 },
	{ DECODED_SYSRET, 0 },
	{ DECODED_INVD, 0 },
	{ DECODED_WBINVD, 0 },
	/* 0B */
	{ DECODED_UD2, 0 },
	/* A1, A9 */
	{ DECODED_POP_SREG, 0 },
	/* B2, B4, B5 */
	{ DECODED_LOAD_FAR, F_MEMORY },
	{ DECODED_LOAD_FAR, F_MEMORY },
};

/* Told apart by the reg field; F_WORD comes on top of the opcode's own format. */
static const struct decode_entry groups[GROUPS][8] = {
	[GROUP_0F00] = {
		[0] = { DECODED_SLDT, F_MODRM },
		[1] = { DECODED_STR, F_MODRM },
		[2] = { DECODED_LLDT, F_MODRM },
		[3] = { DECODED_LTR, F_MODRM },
	},
	[GROUP_0F01] = {
		[0] = { DECODED_SGDT, F_MEMORY },
		[1] = { DECODED_SIDT, F_MEMORY },
		[2] = { DECODED_LGDT, F_MEMORY },
		[3] = { DECODED_LIDT, F_MEMORY },
		[4] = { DECODED_SMSW, F_MODRM | F_WORD },
		[6] = { DECODED_LMSW, F_MODRM | F_WORD },
		[7] = { DECODED_INVLPG, F_MEMORY },
	},
	[GROUP_MOV] = {
		[0] = { DECODED_MOV_STORE, F_MODRM },
	},
	[GROUP_FF] = {
		[3] = { DECODED_CALL_FAR, F_MEMORY },
		[5] = { DECODED_JMP_FAR, F_MEMORY },
	},
};

/* Instructions that use a whole ModR/M byte of 0F 01 as opcode. */
static const struct {
	u8 modrm;
	u8 operation;
} whole_0f01[] = {
	{ 0xc8, DECODED_MONITOR },
	{ 0xc9, DECODED_MWAIT },
	{ 0xd1, DECODED_XSETBV },
};

/* The bytes, of which no more than 15 belong to an instruction. */
struct cursor {
	const u8 *bytes;
	u32 position;
	u32 end;
	bool ended; /* more were asked for than there are */
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

/* Takes one prefix into account; false if the byte is none. */
static bool decode_prefix(struct decoded *decoded, u8 byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		decoded->segment = byte >> 3 & 3;
		return true;
	case 0x64:
	case 0x65:
		decoded->segment = (u8)(SEGMENT_FS + (byte & 1));
		return true;
	case 0x66:
		decoded->operand_size = 2;
		return true;
	case 0x67:
		decoded->address_size = 2;
		return true;
	case 0xf0:
		decoded->lock = true;
		return true;
	case 0xf2:
	case 0xf3:
		decoded->repeat = byte;
		return true;
	default:
		return false;
	}
}

/* Signed or not makes no difference to a sum of 32 bits, but to 8 bits. */
static u32 sign_extend_8(u32 value)
{
	return (value ^ 0x80) - 0x80;
}

static void decode_address_16(struct decoded *decoded, struct cursor *cursor)
{
	static const u8 bases[8] = { REGISTER_EBX, REGISTER_EBX, REGISTER_EBP, REGISTER_EBP,
				     REGISTER_NONE, REGISTER_NONE, REGISTER_EBP, REGISTER_EBX };
	static const u8 indices[8] = { REGISTER_ESI, REGISTER_EDI, REGISTER_ESI, REGISTER_EDI,
				       REGISTER_ESI, REGISTER_EDI, REGISTER_NONE, REGISTER_NONE };

	decoded->base = bases[decoded->rm];
	decoded->index = indices[decoded->rm];
	if (decoded->mod == 0 && decoded->rm == 6)
		decoded->base = REGISTER_NONE;
	if (decoded->mod == 1)
		decoded->displacement = sign_extend_8(cursor_byte(cursor));
	else if (decoded->mod == 2 || decoded->base == decoded->index)
		decoded->displacement = cursor_value(cursor, 2);
}

static void decode_address_32(struct decoded *decoded, struct cursor *cursor)
{
	decoded->base = decoded->rm;
	if (decoded->rm == REGISTER_ESP) {
		u8 sib = cursor_byte(cursor);

		decoded->base = sib & 7;
		decoded->scale = sib >> 6;
		if ((sib >> 3 & 7) != REGISTER_ESP)
			decoded->index = sib >> 3 & 7;
	}
	if (decoded->mod == 0 && decoded->base == REGISTER_EBP)
		decoded->base = REGISTER_NONE;
	if (decoded->mod == 1)
		decoded->displacement = sign_extend_8(cursor_byte(cursor));
	else if (decoded->mod == 2 || decoded->base == REGISTER_NONE)
		decoded->displacement = cursor_value(cursor, 4);
}

#define SEGMENT_DEFAULT 0xff

static void decode_address(struct decoded *decoded, struct cursor *cursor)
{
	decoded->has_memory = true;
	if (decoded->address_size == 2)
		decode_address_16(decoded, cursor);
	else
		decode_address_32(decoded, cursor);
	if (decoded->segment == SEGMENT_DEFAULT &&
	    (decoded->base == REGISTER_EBP || decoded->base == REGISTER_ESP))
		decoded->segment = SEGMENT_SS;
}

/* Finds the operation of a group's member. */
static struct decode_entry group_member(struct decode_entry opcode, u8 modrm)
{
	struct decode_entry entry = groups[opcode.operation][modrm >> 3 & 7];

	entry.format |= opcode.format & (u8)~F_OPERAND;
	if (opcode.operation != GROUP_0F01 || modrm < 0xc0)
		return entry;
	for (unsigned i = 0; i < ARRAY_SIZE(whole_0f01); i++)
		if (whole_0f01[i].modrm == modrm)
			return (struct decode_entry){ whole_0f01[i].operation, F_MODRM };
	return entry;
}

/* Reads ModR/M and what belongs to it. false: no such instruction. */
static bool decode_modrm(struct decoded *decoded, struct cursor *cursor,
			 struct decode_entry *entry)
{
	u8 modrm = cursor_byte(cursor);

	decoded->mod = modrm >> 6;
	decoded->reg = modrm >> 3 & 7;
	decoded->rm = modrm & 7;
	if (cursor->ended)
		return true;
	if ((entry->format & F_OPERAND) == F_GROUP)
		*entry = group_member(*entry, modrm);
	if ((entry->format & F_OPERAND) == F_MEMORY && decoded->mod == 3)
		return false;
	if ((entry->format & F_OPERAND) != F_REGISTER && decoded->mod != 3)
		decode_address(decoded, cursor);
	return entry->operation != DECODED_UNKNOWN;
}

static void decode_immediate(struct decoded *decoded, struct cursor *cursor, u8 format)
{
	decoded->has_immediate = true;
	switch (format & F_IMMEDIATES) {
	case F_IMMEDIATE_8:
		decoded->immediate = cursor_byte(cursor);
		break;
	case F_IMMEDIATE_16:
		decoded->immediate = cursor_value(cursor, 2);
		break;
	case F_IMMEDIATE:
		decoded->immediate = cursor_value(cursor, decoded->operand_size);
		break;
	case F_FAR:
		decoded->immediate = cursor_value(cursor, decoded->operand_size);
		decoded->selector = (u16)cursor_value(cursor, 2);
		break;
	case F_OFFSET:
		decoded->has_immediate = false;
		decoded->has_memory = true;
		decoded->displacement = cursor_value(cursor, decoded->address_size);
		break;
	default:
		decoded->has_immediate = false;
	}
}

/* Puts the segment register that the opcode names into reg; checks the others. */
static bool decode_segment_register(struct decoded *decoded, u8 opcode)
{
	switch (decoded->operation) {
	case DECODED_POP_SREG:
		decoded->reg = opcode >> 3 & 7;
		return true;
	case DECODED_LOAD_FAR:
		decoded->target = decoded->reg;
		/* C4 LES, C5 LDS; 0F B2 LSS, B4 LFS, B5 LGS */
		decoded->reg = opcode == 0xc4 ? SEGMENT_ES
			     : opcode == 0xc5 ? SEGMENT_DS
					      : opcode & 7;
		return true;
	case DECODED_MOV_TO_SREG:
		return decoded->reg != SEGMENT_CS && decoded->reg <= SEGMENT_GS;
	default:
		return true;
	}
}

static enum decode_result cursor_result(const struct cursor *cursor)
{
	return cursor->end >= DECODE_LENGTH_MAXIMUM ? DECODE_UNKNOWN : DECODE_TRUNCATED;
}

/* The entry of an opcode, or NULL. */
static const struct decode_entry *run_find(const struct decode_run *run, u32 runs,
					   const struct decode_entry *entries, u8 opcode)
{
	for (; runs-- > 0; run++)
		if ((u8)(opcode - run->first) < run->count)
			return &entries[run->start + (u8)(opcode - run->first)];
	return NULL;
}

static enum decode_result decode_opcode(struct decoded *decoded, struct cursor *cursor, u8 opcode)
{
	const struct decode_entry *found;
	struct decode_entry entry;

	if (opcode == 0x0f) {
		opcode = cursor_byte(cursor);
		found = run_find(two_byte_runs, ARRAY_SIZE(two_byte_runs), two_byte, opcode);
	} else {
		found = run_find(one_byte_runs, ARRAY_SIZE(one_byte_runs), one_byte, opcode);
	}
	if (cursor->ended)
		return cursor_result(cursor);
	if (found == NULL)
		return DECODE_UNKNOWN;
	entry = *found;
	if (entry.format & F_OPERAND && !decode_modrm(decoded, cursor, &entry))
		return DECODE_UNKNOWN;
	decode_immediate(decoded, cursor, entry.format);
	if (cursor->ended)
		return cursor_result(cursor);
	decoded->operation = entry.operation;
	decoded->size = entry.format & F_BYTE ? 1
		      : entry.format & F_WORD ? 2
					      : decoded->operand_size;
	return decode_segment_register(decoded, opcode) ? DECODE_OK : DECODE_UNKNOWN;
}

enum decode_result decode(struct decoded *decoded, const u8 *bytes, u32 available)
{
	struct cursor cursor = { .bytes = bytes, .end = available };
	enum decode_result result;
	u8 byte;

	if (cursor.end > DECODE_LENGTH_MAXIMUM)
		cursor.end = DECODE_LENGTH_MAXIMUM;
	*decoded = (struct decoded){
		.operand_size = 4,
		.address_size = 4,
		.segment = SEGMENT_DEFAULT,
		.base = REGISTER_NONE,
		.index = REGISTER_NONE,
	};
	do
		byte = cursor_byte(&cursor);
	while (decode_prefix(decoded, byte));
	if (cursor.ended)
		return cursor_result(&cursor);
	result = decode_opcode(decoded, &cursor, byte);
	decoded->length = (u8)cursor.position;
	if (decoded->segment == SEGMENT_DEFAULT)
		decoded->segment = SEGMENT_DS;
	return result;
}

u32 decode_effective_address(const struct decoded *decoded, const u32 registers[8])
{
	u32 address = decoded->displacement;

	if (decoded->base != REGISTER_NONE)
		address += registers[decoded->base];
	if (decoded->index != REGISTER_NONE)
		address += registers[decoded->index] << decoded->scale;
	return decoded->address_size == 2 ? address & 0xffff : address;
}

/* In the order of the operations, each with a 0 byte behind it: half the size of a
 * table of pointers. */
static const char names[] =
	"unknown\0"
	"lgdt\0" "lidt\0" "sgdt\0" "sidt\0" "lldt\0" "ltr\0" "sldt\0" "str\0" "smsw\0" "lmsw\0"
	"mov\0" "mov\0" "mov\0" "mov\0" "invlpg\0" "clts\0" "invd\0" "wbinvd\0" "hlt\0" "cli\0"
	"sti\0" "pushf\0" "popf\0" "iret\0" "in\0" "out\0" "ins\0" "outs\0" "rdmsr\0" "wrmsr\0"
	"rdtsc\0" "rdpmc\0" "xsetbv\0" "monitor\0" "mwait\0" "sysenter\0" "sysexit\0"
	"syscall\0" "sysret\0" "ud2\0" "int\0" "int3\0" "into\0" "mov\0" "pop\0" "lds\0"
	"ljmp\0" "lcall\0" "lret\0" "mov\0" "mov";

const char *decode_name(u8 operation)
{
	const char *name = names;

	if (operation >= DECODED_OPERATIONS)
		operation = DECODED_UNKNOWN;
	while (operation-- > 0)
		name += strlen(name) + 1;
	return name;
}
