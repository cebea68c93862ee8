/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the inputs that the fuzzers start from: seeds FOLDER ELF... For the decoder all
 * instructions of the unit test, as the assembler made them; for the image of an RTOS the ELF
 * files, whole and in short; for the shadow page tables programs of any steps; for the others a
 * few sequences that a guest would use.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "abi/table.h"
#include "lib/types.h"

__asm__(".pushsection .rodata.forms, \"a\"\n"
	"form_bytes:\n"
#define FORM(operation, text)      \
	".code32\n"                \
	".byte 772f - 771f\n"      \
	"771: " text "\n"          \
	"772:\n"                   \
	".code64\n"
#include "guests/x86/decode_forms.h"
#undef FORM
	".byte 0\n"
	".popsection\n");

/* A length, so many bytes, and so on; a length of 0 ends them. */
extern const u8 form_bytes[];

static void write_seed(const char *folder, const char *fuzzer, unsigned number, const void *data,
		       size_t size)
{
	char name[300];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", folder, fuzzer);
	mkdir(name, 0777);
	snprintf(name, sizeof(name), "%s/%s/%03u", folder, fuzzer, number);
	file = fopen(name, "wb");
	if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
		fprintf(stderr, "Cannot write %s: make room there or choose another folder.\n",
			name);
		exit(1);
	}
}

/* The same sequence every time. */
static u32 random_next(u32 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void write_decode(const char *folder)
{
	unsigned number = 0;

	/* The length in front is what the fuzzer takes as bytes available. */
	for (const u8 *form = form_bytes; *form != 0; form += *form + 1)
		write_seed(folder, "decode", number++, form, *form + 1u);
}

static void write_table(const char *folder)
{
	static const u32 values[] = { 0, 1, 0x1000, 0x400000, 0x7fffffff, 0xfffff000, UINT32_MAX };
	unsigned number = 0;
	u8 change[6];

	for (u16 word = 0; word < sizeof(struct gandalf_table) / 4; word = (u16)(word + 3)) {
		u32 value = values[word % ARRAY_SIZE(values)];

		for (unsigned i = 0; i < 6; i++)
			change[i] = (u8)(i < 2 ? word >> (8 * i) : value >> (8 * (i - 2)));
		write_seed(folder, "table", number++, change, sizeof(change));
	}
}

/* Tables of two CPUs and an I/O APIC, of which the fuzzer makes lengths and checksums right; once
 * as they are, once with a CPU that is known before and room for no more. */
static void write_firmware(const char *folder)
{
	static const struct {
		u8 choice, head[44], entries[48];
	} tables[] = {
		{ 0x3e, "APIC\0\0\0\0\1\0BOCHS BXPC    ", /* MADT */
		  "\0\10\0\0\1\0\0\0" "\0\10\1\1\1\0\0\0" "\1\14\0\0\0\0\300\376\0\0\0\0"
		  "\2\12\0\5\5\0\0\0\15\0" "\4\6\377\0\0\1\200\4\0" },
		{ 0x3f, "PCMP\0\0\4\0BOCHSCPU0.1", /* MP table */
		  "\0\0\24\3\0\6\0\0\1\2\0\0\0\0\0\0\0\0\0\0"
		  "\0\1\24\1\0\6\0\0\1\2\0\0\0\0\0\0\0\0\0\0" "\2\2\21\1\0\0\300" },
	};

	for (unsigned i = 0; i < 4; i++) {
		u8 seed[sizeof(tables[0])];

		memcpy(seed, &tables[i / 2], sizeof(seed));
		if (i % 2 != 0)
			seed[0] = (u8)(0x4e | i / 2);
		write_seed(folder, "firmware", i, seed, sizeof(seed));
	}
}

static void write_devices(const char *folder)
{
	static const u8 start[] = {
		/* interrupt controllers as Linux sets them up, line 0, acknowledge */
		0, 0, 0x11, 0, 0, 1, 0x30, 0, 0, 1, 0x04, 0, 0, 1, 0x01, 0,
		0, 0x80, 0x10, 0, 0, 0x60, 0, 0, 0, 0, 0x20, 0,
		/* timer: counter 0, mode 2, count 0x1234; some time; mode 4 */
		1, 3, 0x34, 0, 1, 0, 0x34, 0, 1, 0, 0x12, 0, 1, 0x80, 0, 0x88,
		1, 3, 0x38, 0, 1, 0, 0x34, 0, 1, 0, 0x12, 0, 1, 0x80, 0, 0xff,
		/* clock: alarm, all interrupts, flags */
		2, 1, 0xff, 0, 2, 11, 0x72, 0, 2, 0x8c, 0, 0xdf, 2, 0x8c, 0, 0,
		/* UART: FIFOs, interrupts, a byte each way */
		3, 2, 1, 0, 3, 4, 11, 0, 3, 1, 15, 0, 3, 0, 65, 0, 3, 0x60, 66, 0, 3, 0x82, 0, 0,
	};

	write_seed(folder, "devices", 0, start, sizeof(start));
	for (unsigned i = 0; i + 4 <= sizeof(start); i += 4)
		write_seed(folder, "devices", 1 + i, start + i, 4);
}

static void write_console(const char *folder)
{
	static const u8 start[] = { 0xc0, 'a', 0xc0, '\n', 0xc1, 'b', 0xc1, '\r', 0xc1, '\n',
				    0x80, 40,  0x00, 1,    0x00, 'n', 0x00, 1,    0x00, 'h',
				    0xc2, 27,  0xc2, '[',  0xc2, 'm', 0x60, 'x',  0x62, 'y',
				    0x80, 255, 0x20, 0,    0x40, 0 };

	write_seed(folder, "console", 0, start, sizeof(start));
}

static void write_control(const char *folder)
{
	/* Of a hypercall: kind of step with guest, hypercall with object or action,
	 * place, ECX, EDX, ESI. */
	static const u8 start[] = {
		2, 0x00, 0, 0, 0x8f, 0,             /* the manager reads the system's status */
		2, 0x08, 2, 0, 0x8f, 0,             /* and that of A */
		0, 0x1a, 1,                         /* A is stopped on the console */
		1,                                  /* housekeeping */
		2, 0x31, 2, 0, 0x8f, 0,             /* its image is written */
		2, 0x31, 2, 0, 3, 0x8f,
		2, 0x2a, 2, 0x8f, 0, 0,             /* and complete */
		2, 0x02, 2, 0, 0, 0,                /* it is started */
		1, 0, 0, 0, 3, 0x1b, 1, 0, 0, 0, 0, /* housekeeping, B being stopped meanwhile */
		0, 0, 0x7f, 0xff,                   /* time goes by */
		2, 6, 2, 0, 0, 0,                   /* A is rung */
	};

	write_seed(folder, "control", 0, start, sizeof(start));
}

/* The steps of fuzz_shadow.c that are a guest's own, or of its interrupts: the first ones. */
#define SHADOW_STEPS 15u

/* Programs of any such steps, with small operands: for a shared and for a dedicated guest, with
 * much and with little memory for its page tables; and for a guest where the VMM alone is
 * privileged, with much of it and each of the measures there (fuzz_shadow.c takes both from the
 * first byte). No two are as long: the fuzzer takes the shorter one first, and otherwise the one
 * that the folder names first. */
static void write_shadow(const char *folder)
{
	u8 program[64];
	u32 state = 1;

	for (unsigned number = 0; number < 16; number++) {
		for (unsigned i = 0; i < sizeof(program); i++)
			program[i] = (u8)((random_next(&state) >> 8) % SHADOW_STEPS);
		program[0] = (u8)number;
		write_seed(folder, "shadow", number, program, sizeof(program) - number);
		program[0] = (u8)(number << 4 | 12);
		write_seed(folder, "views", number, program, sizeof(program) - number);
	}
}

static void write_channel(const char *folder)
{
	static const u8 start[] = {
		20, 0,                                /* capacity */
		2, 5, 0, 0x80, 9, 0, 0x82, 30, 0,     /* send, receive, send back */
		0x0e, 1, 0, 0x80, 1, 0,               /* a new epoch, then send and receive */
		0x16, 0, 0, 9, 0, 0, 0, 7, 0, 1, 255, /* an index changed during a send */
	};

	write_seed(folder, "channel", 0, start, sizeof(start));
}

/* In front is what fuzz_image.c takes as the room: here all that there can be. */
struct image_seed {
	u8 room[3];
	u8 file[0x8000];
} __attribute__((packed));

/* A file of two segments right behind its headers. */
static size_t short_elf(u8 *file)
{
	Elf32_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB },
		.e_type = ET_EXEC, .e_machine = EM_386, .e_entry = 0x1000,
		.e_phoff = sizeof(header), .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 2,
	};
	Elf32_Phdr segments[2] = {
		{ .p_type = PT_LOAD, .p_offset = 116, .p_vaddr = 0x1000, .p_filesz = 4,
		  .p_memsz = 4 },
		{ .p_type = PT_LOAD, .p_offset = 120, .p_vaddr = 0x1010, .p_filesz = 2,
		  .p_memsz = 90 },
	};

	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	memcpy(file + sizeof(header) + sizeof(segments), "codedata", 8);
	return sizeof(header) + sizeof(segments) + 8;
}

/* Steps of fuzz_message.c: as many interrupts as can be sent, from two cores and at two times; as
 * many messages, while an RTOS has the CPU; a vCPU that ends amid what is sent to it. */
static void write_message(const char *folder)
{
	static const u8 interrupts[] = { 8, 0xe2, 8, 0xe3, 3, 0x50, 0xc3, 2, 8, 0xe2, 4 };
	static const u8 messages[] = { 5, 0, 0, 1, 3, 0x40, 0xc3, 8, 0xe0, 3, 0x50, 0xc3, 2, 5 };
	static const u8 ends[] = { 8, 0x22, 7, 0, 8, 0x23, 7, 0, 8, 0x22, 6, 0x0f, 0, 0, 0, 0 };

	write_seed(folder, "message", 0, interrupts, sizeof(interrupts));
	write_seed(folder, "message", 1, messages, sizeof(messages));
	write_seed(folder, "message", 2, ends, sizeof(ends));
}

static void write_image(const char *folder, unsigned number, const char *name)
{
	static struct image_seed seed = { { 0xff, 0xff, 0xff }, { 0 } };
	FILE *file = name != NULL ? fopen(name, "rb") : NULL;
	size_t size;

	if (name != NULL && file == NULL) {
		fprintf(stderr, "Cannot read %s: build it first.\n", name);
		exit(1);
	}
	size = file != NULL ? fread(seed.file, 1, sizeof(seed.file), file) : short_elf(seed.file);
	if (file != NULL)
		fclose(file);
	write_seed(folder, "image", number, &seed, size + sizeof(seed.room));
}

int main(int count, char **arguments)
{
	if (count < 2) {
		fprintf(stderr, "Usage: seeds FOLDER ELF...\n");
		return 1;
	}
	write_decode(arguments[1]);
	write_table(arguments[1]);
	write_firmware(arguments[1]);
	write_devices(arguments[1]);
	write_console(arguments[1]);
	write_control(arguments[1]);
	write_shadow(arguments[1]);
	write_channel(arguments[1]);
	write_message(arguments[1]);
	write_image(arguments[1], 0, NULL);
	for (int i = 2; i < count; i++)
		write_image(arguments[1], (unsigned)i - 1, arguments[i]);
	return 0;
}
