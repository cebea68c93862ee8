/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction decoder against the assembler: GNU as assembles the forms of
 * decode_forms.h into this program, and their operations and lengths must come out
 * again. Then operands, byte by byte, and what must not be decoded.
 */
#include "unit.h"

#include <string.h>

#include "arch/ia32/decode_quick.h"
#include "guests/x86/decode.h"

/* The bytes of all forms one behind the other, and the length of each. */
__asm__(".pushsection .rodata.forms, \"a\"\n"
	"form_bytes:\n"
	".popsection\n"
	".pushsection .rodata.form_lengths, \"a\"\n"
	"form_lengths:\n"
	".popsection\n"
#define FORM(operation, text)                                  \
	".pushsection .rodata.forms\n"                         \
	".code32\n"                                            \
	"771: " text "\n"                                      \
	"772:\n"                                               \
	".code64\n"                                            \
	".popsection\n"                                        \
	".pushsection .rodata.form_lengths\n"                  \
	".byte 772b - 771b\n"                                  \
	".popsection\n"
#include "guests/x86/decode_forms.h"
#undef FORM
);

extern const u8 form_bytes[];
extern const u8 form_lengths[];

static const struct {
	u8 operation;
	const char *text;
} forms[] = {
#define FORM(operation, text) { DECODED_##operation, text },
#include "guests/x86/decode_forms.h"
#undef FORM
};

static const u32 registers[8] = { 0x11111111, 0x22222222, 0x33333333, 0x44444444,
				  0x55555555, 0x66666666, 0x77777777, 0x88888888 };

static void assert_is_invlpg(const u8 *bytes)
{
	struct decoded full;

	assert_int_equal(decode(&full, bytes, 15), DECODE_OK);
	assert_int_equal(full.operation, DECODED_INVLPG);
	assert_int_equal(full.length, 3);
	assert_true(full.has_memory && !full.lock);
	assert_int_equal(full.segment, SEGMENT_DS);
	assert_int_equal(full.base, bytes[2] & 7);
	assert_int_equal(full.index, REGISTER_NONE);
	assert_int_equal(full.displacement, 0);
}

static void assert_moves_port_byte(const u8 *bytes, u32 code)
{
	struct decoded full;

	assert_int_equal(decode(&full, bytes, 15), DECODE_OK);
	assert_int_equal(full.operation, decode_is_out(code) ? DECODED_OUT : DECODED_IN);
	assert_int_equal(full.size, 1);
	assert_int_equal(full.has_immediate, decode_has_port(code));
	assert_int_equal(full.length, 1 + full.has_immediate);
	if (full.has_immediate)
		assert_int_equal(full.immediate, bytes[1]);
}

static void assert_is_cr(const u8 *bytes, u8 operation, u32 number)
{
	struct decoded full;

	assert_int_equal(decode(&full, bytes, 15), DECODE_OK);
	assert_int_equal(full.operation, operation);
	assert_int_equal(full.reg, number);
	assert_int_equal(full.rm, bytes[2] & 7);
	assert_int_equal(full.length, 3);
}

/* By its first byte alone, as the full decoder has it: IRET and HLT. */
static void one_byte_is_decoded_alike(void **state)
{
	(void)state;
	for (u32 byte = 0; byte < 256; byte++) {
		u8 bytes[15] = {(u8)byte};
		struct decoded full;
		bool known = decode(&full, bytes, sizeof(bytes)) == DECODE_OK && full.length == 1;

		assert_int_equal(decode_returns((u8)byte), known && full.operation == DECODED_IRET);
		assert_int_equal(decode_halts((u8)byte), known && full.operation == DECODED_HLT);
	}
}

/* In whatever bytes follow: a ModR/M or immediate byte of each value, and others. */
static void the_frequent_are_decoded_alike(void **state)
{
	u32 port_bytes = 0, invlpg_registers = 0, cr2_registers = 0, cr3_registers = 0;

	(void)state;
	for (u32 i = 0; i < 1u << 24; i++) {
		/* 0F 01, 0F 20, 0F 22, and one byte. */
		u32 code = i >> 16 & 1 ? (i >> 8 & 0xff) << 16 | (i & 0xff) << 8 | 0x0f : i;
		u8 bytes[15] = {(u8)code, (u8)(code >> 8), (u8)(code >> 16), 0x5a};

		if (decode_reads_cr2(code | 0x5au << 24)) {
			assert_is_cr(bytes, DECODED_MOV_FROM_CR, 2);
			cr2_registers |= 1u << (code >> 16 & 7);
		} else if (decode_loads_cr3(code | 0x5au << 24)) {
			assert_is_cr(bytes, DECODED_MOV_TO_CR, 3);
			cr3_registers |= 1u << (code >> 16 & 7);
		} else if (decode_invalidates_page(code | 0x5au << 24)) {
			assert_is_invlpg(bytes);
			invlpg_registers |= 1u << (code >> 16 & 7);
		} else if (decode_moves_port_byte(code | 0x5au << 24)) {
			assert_moves_port_byte(bytes, code);
			port_bytes |= 1u << (code & 0x0f);
		}
	}
	assert_int_equal(port_bytes, 0x5050); /* E4, E6, EC and EE */
	assert_int_equal(invlpg_registers, 0xcf); /* not ESP and EBP, whose forms are longer */
	assert_int_equal(cr2_registers, 0xff);
	assert_int_equal(cr3_registers, 0xff);
}

static void every_form_decodes(void **state)
{
	const u8 *bytes = form_bytes;
	struct decoded decoded;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		u32 length = form_lengths[i];

		print_message("%s\n", forms[i].text);
		assert_int_equal(decode(&decoded, bytes, 15), DECODE_OK);
		assert_int_equal(decoded.operation, forms[i].operation);
		assert_int_equal(decoded.length, length);
		/* Exactly its own bytes are enough, and no less. */
		assert_int_equal(decode(&decoded, bytes, length), DECODE_OK);
		assert_int_equal(decoded.operation, forms[i].operation);
		for (u32 less = 0; less < length; less++)
			assert_int_equal(decode(&decoded, bytes, less), DECODE_TRUNCATED);
		bytes += length;
	}
}

static void every_operation_has_a_form_and_a_name(void **state)
{
	bool seen[DECODED_OPERATIONS] = { [DECODED_UNKNOWN] = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		seen[forms[i].operation] = true;
	for (u8 i = 0; i < DECODED_OPERATIONS; i++) {
		assert_true(seen[i]);
		assert_true(strlen(decode_name(i)) >= 2);
	}
	assert_string_equal(decode_name(DECODED_LGDT), "lgdt");
	assert_string_equal(decode_name(DECODED_SYSENTER), "sysenter");
	assert_string_equal(decode_name(DECODED_OPERATIONS), "unknown");
	assert_string_equal(decode_name(255), "unknown");
}

struct bytes {
	u8 bytes[15];
	u8 length;
};

#define BYTES(...) { { __VA_ARGS__ }, sizeof((u8[]){ __VA_ARGS__ }) }

static struct decoded good(const struct bytes *bytes)
{
	struct decoded decoded;

	assert_int_equal(decode(&decoded, bytes->bytes, bytes->length), DECODE_OK);
	assert_int_equal(decoded.length, bytes->length);
	return decoded;
}

static u32 register_value(u8 number)
{
	return number == REGISTER_NONE ? 0 : registers[number];
}

/* Of mov %eax,MEMORY: 89 and ModR/M with reg 0. */
static const struct {
	struct bytes code;
	u32 address;
	u8 segment;
} memory_forms[] = {
	{ BYTES(0x89, 0x00), 0x11111111, SEGMENT_DS },
	{ BYTES(0x89, 0x07), 0x88888888, SEGMENT_DS },
	{ BYTES(0x89, 0x05, 0x78, 0x56, 0x34, 0x12), 0x12345678, SEGMENT_DS },
	{ BYTES(0x89, 0x41, 0xff), 0x22222221, SEGMENT_DS },
	{ BYTES(0x89, 0x45, 0x7f), 0x666666e5, SEGMENT_SS },
	{ BYTES(0x89, 0x83, 0x01, 0x00, 0x00, 0xff), 0x43444445, SEGMENT_DS },
	{ BYTES(0x89, 0x04, 0x24), 0x55555555, SEGMENT_SS },
	{ BYTES(0x89, 0x44, 0x24, 0x08), 0x5555555d, SEGMENT_SS },
	{ BYTES(0x89, 0x04, 0xe0), 0x11111111, SEGMENT_DS },
	{ BYTES(0x89, 0x04, 0x88), 0x99999999, SEGMENT_DS },
	{ BYTES(0x89, 0x04, 0xc9), 0x33333332, SEGMENT_DS },
	{ BYTES(0x89, 0x04, 0x8d, 0x01, 0x00, 0x00, 0x00), 0x88888889, SEGMENT_DS },
	{ BYTES(0x89, 0x04, 0x25, 0x01, 0x00, 0x00, 0x00), 0x00000001, SEGMENT_DS },
	{ BYTES(0x89, 0x44, 0x4d, 0x00), 0xaaaaaaaa, SEGMENT_SS },
	{ BYTES(0x89, 0x84, 0x29, 0x10, 0x00, 0x00, 0x00), 0x88888898, SEGMENT_DS },
	{ BYTES(0xa3, 0x78, 0x56, 0x34, 0x12), 0x12345678, SEGMENT_DS },
	/* overrides; the last one counts */
	{ BYTES(0x26, 0x89, 0x00), 0x11111111, SEGMENT_ES },
	{ BYTES(0x2e, 0x89, 0x00), 0x11111111, SEGMENT_CS },
	{ BYTES(0x36, 0x89, 0x00), 0x11111111, SEGMENT_SS },
	{ BYTES(0x3e, 0x89, 0x45, 0x00), 0x66666666, SEGMENT_DS },
	{ BYTES(0x64, 0x89, 0x00), 0x11111111, SEGMENT_FS },
	{ BYTES(0x64, 0x65, 0x89, 0x04, 0x24), 0x55555555, SEGMENT_GS },
};

static void memory_operands(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(memory_forms); i++) {
		struct decoded decoded = good(&memory_forms[i].code);

		assert_true(decoded.has_memory);
		assert_int_equal(decoded.displacement + register_value(decoded.base) +
					 (register_value(decoded.index) << decoded.scale),
				 memory_forms[i].address);
		assert_int_equal(decoded.segment, memory_forms[i].segment);
		assert_int_equal(decoded.reg, REGISTER_EAX);
	}
}

static void data_sizes(void **state)
{
	static const struct {
		struct bytes code;
		u8 operation, size, operand_size;
	} cases[] = {
		{ BYTES(0x88, 0x00), DECODED_MOV_STORE, 1, 4 },
		{ BYTES(0x89, 0x00), DECODED_MOV_STORE, 4, 4 },
		{ BYTES(0x66, 0x89, 0x00), DECODED_MOV_STORE, 2, 2 },
		{ BYTES(0x66, 0x66, 0x89, 0x00), DECODED_MOV_STORE, 2, 2 },
		{ BYTES(0xec), DECODED_IN, 1, 4 },
		{ BYTES(0x66, 0xed), DECODED_IN, 2, 2 },
		{ BYTES(0xed), DECODED_IN, 4, 4 },
		{ BYTES(0x6c), DECODED_INS, 1, 4 },
		{ BYTES(0x66, 0x6d), DECODED_INS, 2, 2 },
		{ BYTES(0xc6, 0x00, 0x12), DECODED_MOV_STORE, 1, 4 },
		{ BYTES(0xa2, 0, 0, 0, 0), DECODED_MOV_STORE, 1, 4 },
		{ BYTES(0x66, 0xe7, 0x80), DECODED_OUT, 2, 2 },
		{ BYTES(0x66, 0x0f, 0x01, 0x10), DECODED_LGDT, 2, 2 },
		{ BYTES(0xcf), DECODED_IRET, 4, 4 },
		{ BYTES(0x66, 0xcf), DECODED_IRET, 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct decoded decoded = good(&cases[i].code);

		assert_int_equal(decoded.operation, cases[i].operation);
		assert_int_equal(decoded.size, cases[i].size);
		assert_int_equal(decoded.operand_size, cases[i].operand_size);
	}
}

static void immediates(void **state)
{
	static const struct {
		struct bytes code;
		u32 immediate;
		bool has_immediate;
	} cases[] = {
		{ BYTES(0xe4, 0xff), 0xff, true },
		{ BYTES(0xe7, 0x80), 0x80, true },
		{ BYTES(0xec), 0, false },
		{ BYTES(0xc7, 0x05, 0, 0, 0, 0xfc, 0x00, 0x02, 0, 0), 0x200, true },
		{ BYTES(0x66, 0xc7, 0x00, 0x34, 0x12), 0x1234, true },
		{ BYTES(0xc6, 0x40, 0x01, 0xfe), 0xfe, true },
		{ BYTES(0xa3, 0x78, 0x56, 0x34, 0x12), 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct decoded decoded = good(&cases[i].code);

		assert_int_equal(decoded.has_immediate, cases[i].has_immediate);
		assert_int_equal(decoded.immediate, cases[i].immediate);
	}
}

static void register_fields(void **state)
{
	static const struct {
		struct bytes code;
		u8 operation, reg, rm;
		bool has_memory;
	} cases[] = {
		{ BYTES(0x0f, 0x22, 0xd9), DECODED_MOV_TO_CR, 3, REGISTER_ECX, false },
		/* mod is ignored there: no displacement follows */
		{ BYTES(0x0f, 0x20, 0x06), DECODED_MOV_FROM_CR, 0, REGISTER_ESI, false },
		{ BYTES(0x0f, 0x23, 0x45), DECODED_MOV_TO_DR, 0, REGISTER_EBP, false },
		{ BYTES(0x0f, 0x21, 0xf8), DECODED_MOV_FROM_DR, 7, REGISTER_EAX, false },
		{ BYTES(0x8e, 0xe3), DECODED_MOV_TO_SREG, SEGMENT_FS, REGISTER_EBX, false },
		{ BYTES(0x8e, 0x18), DECODED_MOV_TO_SREG, SEGMENT_DS, REGISTER_EAX, true },
		{ BYTES(0x89, 0xf9), DECODED_MOV_STORE, REGISTER_EDI, REGISTER_ECX, false },
		{ BYTES(0x0f, 0x01, 0xf1), DECODED_LMSW, 6, REGISTER_ECX, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct decoded decoded = good(&cases[i].code);

		assert_int_equal(decoded.operation, cases[i].operation);
		assert_int_equal(decoded.reg, cases[i].reg);
		assert_int_equal(decoded.rm, cases[i].rm);
		assert_int_equal(decoded.has_memory, cases[i].has_memory);
	}
}

static void prefixes(void **state)
{
	static const struct bytes rep = BYTES(0xf3, 0x66, 0x6d);
	static const struct bytes repne = BYTES(0xf2, 0x64, 0x6f);
	static const struct bytes lock = BYTES(0xf0, 0x89, 0x00);
	struct decoded decoded = good(&rep);

	(void)state;
	assert_int_equal(decoded.size, 2);
	assert_int_equal(decoded.segment, SEGMENT_DS);
	assert_false(decoded.lock);
	decoded = good(&repne);
	assert_int_equal(decoded.size, 4);
	assert_int_equal(decoded.segment, SEGMENT_FS);
	decoded = good(&lock);
	assert_true(decoded.lock);
}

static void what_is_not_ours_is_unknown(void **state)
{
	static const struct bytes cases[] = {
		BYTES(0x00, 0x00),             /* add */
		BYTES(0x90),                   /* nop */
		BYTES(0x0f, 0x0b + 1),
		BYTES(0x0f, 0xa2),             /* cpuid */
		BYTES(0x0f, 0xff, 0xc0),
		BYTES(0x67, 0x89, 0x00),       /* 16-bit address */
		BYTES(0x8b, 0x00),             /* load */
		BYTES(0xa1, 0, 0, 0, 0),
		BYTES(0x1f),                   /* pop %ds */
		BYTES(0xcd, 0x80),             /* int */
		BYTES(0xea, 0, 0, 0, 0, 8, 0), /* ljmp */
		BYTES(0x0f, 0x00, 0x20),       /* verr */
		BYTES(0x0f, 0x01, 0x00),       /* sgdt */
		BYTES(0x0f, 0x01, 0xc1),       /* vmcall */
		BYTES(0x0f, 0x01, 0xd0),       /* xgetbv */
		BYTES(0x0f, 0x01, 0xf8),       /* swapgs */
		BYTES(0x0f, 0x01, 0x28),       /* 0F 01 /5 */
		BYTES(0x8e, 0xc8),             /* mov %eax,%cs */
		BYTES(0x8e, 0xf0),             /* no such segment register */
		BYTES(0x8e, 0xf8),
		BYTES(0xc4, 0xc0),             /* VEX, not LES */
		BYTES(0xc5, 0xc0),
		BYTES(0x0f, 0xb2, 0xc0),       /* lss from a register */
		BYTES(0xc6, 0xf8, 0x00),       /* xabort */
		BYTES(0xc7, 0x08, 0, 0, 0, 0), /* C7 /1 */
		BYTES(0xff, 0x10),             /* near call */
		BYTES(0xff, 0xe8),             /* far jump through a register */
		BYTES(0xff, 0x30),             /* push */
	};
	struct decoded decoded;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(decode(&decoded, cases[i].bytes, 15), DECODE_UNKNOWN);
}

static void fifteen_bytes_are_the_most(void **state)
{
	u8 bytes[20];
	struct decoded decoded;

	(void)state;
	memset(bytes, 0x66, sizeof(bytes));
	bytes[14] = 0xf4;
	assert_int_equal(decode(&decoded, bytes, 20), DECODE_OK);
	assert_int_equal(decoded.length, 15);
	assert_int_equal(decode(&decoded, bytes, 14), DECODE_TRUNCATED);
	bytes[14] = 0x66;
	bytes[15] = 0xf4;
	assert_int_equal(decode(&decoded, bytes, 20), DECODE_UNKNOWN);
	/* Too long by its immediate. */
	bytes[11] = 0xc7;
	bytes[12] = 0x00;
	assert_int_equal(decode(&decoded, bytes, 15), DECODE_OK);
	memmove(bytes + 1, bytes, 15);
	assert_int_equal(decode(&decoded, bytes, 20), DECODE_UNKNOWN);
	assert_int_equal(decode(&decoded, bytes, 0), DECODE_TRUNCATED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_decodes),
		cmocka_unit_test(one_byte_is_decoded_alike),
		cmocka_unit_test(the_frequent_are_decoded_alike),
		cmocka_unit_test(every_operation_has_a_form_and_a_name),
		cmocka_unit_test(memory_operands),
		cmocka_unit_test(data_sizes),
		cmocka_unit_test(immediates),
		cmocka_unit_test(register_fields),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(what_is_not_ours_is_unknown),
		cmocka_unit_test(fifteen_bytes_are_the_most),
	};

	return RUN_TESTS(tests);
}
