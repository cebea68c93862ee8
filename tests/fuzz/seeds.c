/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the inputs that the fuzzers start from: seeds FOLDER. For the decoder all
 * instructions of the unit test, as the assembler made them; for the others a
 * few sequences that a guest would use.
 */
#include <stdio.h>
#include <stdlib.h>
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
#include "decode_forms.h"
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

int main(int count, char **arguments)
{
	if (count != 2) {
		fprintf(stderr, "Usage: seeds FOLDER\n");
		return 1;
	}
	write_decode(arguments[1]);
	write_table(arguments[1]);
	write_devices(arguments[1]);
	write_console(arguments[1]);
	return 0;
}
