/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what gandalfctl makes of an ELF file before it is loaded into an RTOS. The
 * input is the room for it in three bytes and then the file. What is refused must be
 * refused with a sentence; what is taken must fit, and hold what the file says.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/linux/control/image.h"
#include "lib/types.h"

#define PAGE 4096u
#define SENTENCE_MAXIMUM 160

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static Elf32_Phdr segment_of(const u8 *file, const Elf32_Ehdr *header, u32 index)
{
	Elf32_Phdr segment;

	memcpy(&segment, file + header->e_phoff + index * sizeof(segment), sizeof(segment));
	if (segment.p_type != PT_LOAD)
		segment.p_memsz = 0;
	return segment;
}

static void check_overlap(const u8 *file, const Elf32_Ehdr *header, u32 index)
{
	Elf32_Phdr one = segment_of(file, header, index);

	for (u32 i = 0; i < index; i++) {
		Elf32_Phdr other = segment_of(file, header, i);

		require(one.p_memsz == 0 || other.p_memsz == 0 ||
			one.p_vaddr + one.p_memsz <= other.p_vaddr ||
			other.p_vaddr + other.p_memsz <= one.p_vaddr);
	}
}

static void check_contents(const u8 *file, const struct image *image)
{
	u8 *bytes = calloc(1, image->size);
	u32 end = 0;
	Elf32_Ehdr header;

	memcpy(&header, file, sizeof(header));
	for (u32 i = 0; i < header.e_phnum; i++) {
		Elf32_Phdr segment = segment_of(file, &header, i);

		check_overlap(file, &header, i);
		if (segment.p_memsz == 0 || segment.p_filesz == 0)
			continue;
		require(segment.p_filesz <= segment.p_memsz);
		require(segment.p_vaddr + segment.p_filesz <= image->size);
		memcpy(bytes + segment.p_vaddr, file + segment.p_offset, segment.p_filesz);
		if (segment.p_vaddr + segment.p_filesz > end)
			end = segment.p_vaddr + segment.p_filesz;
	}
	require(end == image->size && memcmp(bytes, image->bytes, end) == 0);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static int file = -1;
	struct image image = { 0 };
	u32 memory, room;
	const char *reason;

	if (size < 3)
		return 0;
	/* 4 KiB to 1 MiB. */
	memory = (1 + data[0]) * PAGE;
	room = data[1] | (u32)data[2] << 8;
	data += 3;
	size -= 3;
	if (file < 0)
		file = memfd_create("image", 0);
	require(file >= 0 && ftruncate(file, 0) == 0);
	require(pwrite(file, data, size, 0) == (ssize_t)size);
	reason = image_read(file, memory, room, &image);
	if (reason == NULL) {
		require(image.size > 0 && image.size <= memory && image.size <= room);
		require(image.entry < image.size);
		check_contents(data, &image);
	} else {
		require(strlen(reason) > 10 && strlen(reason) < SENTENCE_MAXIMUM);
		require(strchr(reason, '\n') == NULL && image.bytes == NULL);
	}
	free(image.bytes);
	return 0;
}
