/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder against a disassembler that knows every instruction: objdump. Each
 * opcode of one and two bytes, with a choice of ModR/M bytes and prefixes, must be
 * decoded by both or be none of ours, and with the same name and length.
 */
#include "unit.h"

#include <ctype.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guests/x86/decode.h"

/* The instruction, then NOPs until the disassembler is surely in step again. */
#define SLOT 32
#define NOP 0x90
#define OPCODES 512
#define MNEMONIC 32

static const u8 modrms[] = { 0x00, 0x05, 0x08, 0x0c, 0x10, 0x14, 0x18, 0x1d, 0x20, 0x25,
			     0x28, 0x2c, 0x30, 0x35, 0x38, 0x3c, 0x44, 0x4d, 0x54, 0x5b,
			     0x64, 0x6c, 0x70, 0x7c, 0x84, 0x8d, 0x94, 0x9b, 0xa4, 0xac,
			     0xb0, 0xbc, 0xc0, 0xc8, 0xc9, 0xd0, 0xd1, 0xd8, 0xe0, 0xe8,
			     0xf0, 0xf8, 0xf9, 0xff };
static const u8 prefixes[] = { 0x00, 0x66, 0xf3, 0x64 };

/* 0x25 as SIB: no index, base EBP or, with mod 0, a displacement. */
static const u8 rest[] = { 0x25, 0x78, 0x56, 0x34, 0x12, 0x21, 0x43, 0x65, 0x07 };

#define SLOTS (OPCODES * ARRAY_SIZE(modrms) * ARRAY_SIZE(prefixes))

static u8 slots[SLOTS][SLOT];

static void slot_fill(u8 *slot, unsigned opcode, u8 modrm, u8 prefix)
{
	unsigned length = 0;

	memset(slot, NOP, SLOT);
	/* Later processors have another meaning for a prefix before WBINVD. */
	if (prefix != 0 && opcode != 0x109)
		slot[length++] = prefix;
	if (opcode >= 256)
		slot[length++] = 0x0f;
	slot[length++] = (u8)opcode;
	slot[length++] = modrm;
	memcpy(slot + length, rest, sizeof(rest));
}

static void slots_fill(void)
{
	size_t slot = 0;

	for (unsigned opcode = 0; opcode < OPCODES; opcode++)
		for (size_t i = 0; i < ARRAY_SIZE(modrms); i++)
			for (size_t j = 0; j < ARRAY_SIZE(prefixes); j++)
				slot_fill(slots[slot++], opcode, modrms[i], prefixes[j]);
}

static bool is_prefix_word(const char *word)
{
	static const char *const words[] = { "rep", "repz", "repnz", "cs", "ds", "es", "fs",
					     "gs", "ss", "data16", "addr16", "lock", "addr32",
					     "xrelease", "xacquire" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* The mnemonic of a disassembled instruction, and where its operands begin. */
static const char *split_text(const char *text, char mnemonic[MNEMONIC])
{
	unsigned length;

	do {
		for (length = 0; islower((u8)*text) || isdigit((u8)*text); text++)
			if (length < MNEMONIC - 1)
				mnemonic[length++] = *text;
		mnemonic[length] = '\0';
		while (*text == ' ')
			text++;
	} while (length > 0 && is_prefix_word(mnemonic));
	return text;
}

/* Whether the disassembler's name is ours with or without a size suffix. */
static bool is_name(const char *mnemonic, const char *name)
{
	size_t length = strlen(name);

	return strncmp(mnemonic, name, length) == 0 &&
	       (mnemonic[length] == '\0' || (strchr("bwl", mnemonic[length]) != NULL &&
					     mnemonic[length + 1] == '\0'));
}

/* MOV has forms that are not ours: to registers, from a segment register. */
static bool is_our_mov(const u8 *slot)
{
	const u8 *opcode = slot;

	while (strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", *opcode) != NULL)
		opcode++;
	if ((*opcode >= 0xb0 && *opcode <= 0xbf) || *opcode == 0x8a || *opcode == 0x8b ||
	    *opcode == 0x8c || *opcode == 0xa0 || *opcode == 0xa1)
		return false;
	if (opcode[0] == 0x0f && (opcode[1] == 0x24 || opcode[1] == 0x26))
		return false;
	/* Opcodes for which there is no segment register are shown all the same. */
	return *opcode != 0x8e || ((opcode[1] & 0x38) != 0x08 && (opcode[1] & 0x30) != 0x30);
}

/* Whether an instruction of the disassembler's is one that we must know. */
static bool is_ours(const char *mnemonic, const char *operands, const u8 *slot)
{
	/* Nor are 16-bit addresses ours. */
	if (strstr(operands, "(bad)") != NULL || slot[0] == 0x67 || slot[1] == 0x67)
		return false;
	if (is_name(mnemonic, "mov"))
		return is_our_mov(slot);
	for (u8 operation = 1; operation < DECODED_OPERATIONS; operation++)
		if (is_name(mnemonic, decode_name(operation)))
			return true;
	return false;
}

static unsigned length_of(const char *hex)
{
	unsigned digits = 0;

	for (; *hex != '\0'; hex++)
		digits += isxdigit((u8)*hex) != 0;
	return digits / 2;
}

/* One line "offset:<tab>bytes<tab>text"; returns whether it began a slot. */
static bool line_check(char *line)
{
	char *hex = strchr(line, '\t');
	char *text = hex != NULL ? strchr(hex + 1, '\t') : NULL;
	unsigned long offset = strtoul(line, NULL, 16);
	char mnemonic[MNEMONIC];
	const char *operands;
	struct decoded decoded;
	enum decode_result result;

	if (text == NULL || offset % SLOT != 0)
		return false;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	operands = split_text(text, mnemonic);
	result = decode(&decoded, slots[offset / SLOT], SLOT);
	if (strchr(text, '(') != NULL && strstr(text, "(bad)") != NULL)
		operands = "(bad)";
	if (is_ours(mnemonic, operands, slots[offset / SLOT]) != (result == DECODE_OK) ||
	    (result == DECODE_OK &&
	     (!is_name(mnemonic, decode_name(decoded.operation)) ||
	      decoded.length != length_of(hex))))
		fail_msg("%s is \"%s\"; we say %s, %s, %u bytes", hex, text,
			 result == DECODE_OK ? "known" : "unknown",
			 decode_name(decoded.operation), decoded.length);
	return true;
}

static void the_disassembler_agrees(void **state)
{
	char name[] = "slots-XXXXXX";
	char command[200];
	char line[400];
	size_t checked = 0;
	int file = mkstemp(name);
	FILE *listing;

	(void)state;
	slots_fill();
	assert_true(file >= 0);
	assert_int_equal(write(file, slots, sizeof(slots)), sizeof(slots));
	assert_int_equal(close(file), 0);
	snprintf(command, sizeof(command),
		 "LC_ALL=C objdump -D -z -b binary -m i386 --insn-width=16 %s", name);
	listing = popen(command, "r");
	assert_non_null(listing);
	while (fgets(line, sizeof(line), listing) != NULL)
		checked += line_check(line);
	assert_int_equal(pclose(listing), 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(checked, SLOTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_disassembler_agrees),
	};

	return RUN_TESTS(tests);
}
