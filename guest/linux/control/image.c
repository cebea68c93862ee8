/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an RTOS's ELF file. Sums are of 64 bits, so that no field of the file makes them
 * overflow. */
#include "image.h"

#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MAXIMUM 64

struct segments {
	Elf32_Phdr segment[SEGMENTS_MAXIMUM];
	unsigned count;
};

static const char *wrong(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

static const char *wrong(const char *pattern, ...)
{
	static char sentence[160];
	va_list arguments;

	va_start(arguments, pattern);
	vsnprintf(sentence, sizeof(sentence), pattern, arguments);
	va_end(arguments);
	return sentence;
}

static uint64_t end_of(const Elf32_Phdr *segment)
{
	return (uint64_t)segment->p_vaddr + segment->p_memsz;
}

static bool read_at(int file, void *to, uint32_t size, uint64_t offset)
{
	uint8_t *bytes = to;

	while (size) {
		ssize_t result = pread(file, bytes, size, (off_t)offset);

		if (result <= 0)
			return false;
		bytes += result;
		size -= (uint32_t)result;
		offset += (uint64_t)result;
	}
	return true;
}

static const char *header_read(int file, Elf32_Ehdr *header)
{
	memset(header, 0, sizeof(*header));
	if (!read_at(file, header, SELFMAG, 0) || memcmp(header->e_ident, ELFMAG, SELFMAG))
		return "is not an ELF file";
	if (!read_at(file, header, sizeof(*header), 0))
		return "is cut short: it ends in its ELF header";
	if (header->e_ident[EI_CLASS] != ELFCLASS32 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_386)
		return "is not built for 32-bit x86: its ELF header names another machine";
	if (header->e_type != ET_EXEC)
		return "is not linked to a fixed address: link it without -shared and -pie";
	if (header->e_phnum && header->e_phentsize != sizeof(Elf32_Phdr))
		return "is a damaged ELF file: its headers make no sense";
	return NULL;
}

static const char *segment_check(const Elf32_Phdr *segment, uint32_t memory)
{
	if (segment->p_filesz > segment->p_memsz)
		return "is a damaged ELF file: a segment has more bytes than memory";
	if (end_of(segment) > memory)
		return wrong("does not fit: it ends at 0x%llx, "
			     "and the guest's memory for it at 0x%x",
			     (unsigned long long)end_of(segment), memory);
	return NULL;
}

static const char *segments_read(int file, const Elf32_Ehdr *header, uint32_t memory,
				 struct segments *segments)
{
	segments->count = 0;
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf32_Phdr segment;
		const char *reason;

		if (!read_at(file, &segment, sizeof(segment),
			     (uint64_t)header->e_phoff + i * sizeof(segment)))
			return "is cut short: it ends in its program headers";
		if (segment.p_type != PT_LOAD || !segment.p_memsz)
			continue;
		reason = segment_check(&segment, memory);
		if (reason)
			return reason;
		if (segments->count == SEGMENTS_MAXIMUM)
			return wrong("has more than %u segments", SEGMENTS_MAXIMUM);
		segments->segment[segments->count++] = segment;
	}
	return segments->count ? NULL : "has nothing to load: no segment of type LOAD";
}

static const char *segments_check(const struct segments *segments, uint32_t entry)
{
	bool inside = false;

	for (unsigned i = 0; i < segments->count; i++) {
		const Elf32_Phdr *one = &segments->segment[i];

		inside |= entry >= one->p_vaddr && entry - one->p_vaddr < one->p_filesz;
		for (unsigned j = 0; j < i; j++) {
			const Elf32_Phdr *other = &segments->segment[j];

			if (one->p_vaddr < end_of(other) && other->p_vaddr < end_of(one))
				return wrong("has segments that overlap at 0x%x",
					     one->p_vaddr > other->p_vaddr ? one->p_vaddr :
									     other->p_vaddr);
		}
	}
	return inside ? NULL : wrong("has its entry point 0x%x where it has no bytes", entry);
}

/* Returns where the last byte ends that the file has. What follows is zero in any case. */
static uint32_t size_of(const struct segments *segments)
{
	uint32_t size = 0;

	for (unsigned i = 0; i < segments->count; i++) {
		const Elf32_Phdr *segment = &segments->segment[i];

		if (segment->p_filesz && segment->p_vaddr + segment->p_filesz > size)
			size = segment->p_vaddr + segment->p_filesz;
	}
	return size;
}

static const char *flatten(int file, const struct segments *segments, struct image *image)
{
	image->bytes = calloc(1, image->size);
	if (!image->bytes)
		return "does not fit into the memory that Linux has left";
	for (unsigned i = 0; i < segments->count; i++) {
		const Elf32_Phdr *segment = &segments->segment[i];

		if (read_at(file, image->bytes + segment->p_vaddr, segment->p_filesz,
			    segment->p_offset))
			continue;
		free(image->bytes);
		image->bytes = NULL;
		return "is cut short: a segment reaches behind the end of the file";
	}
	return NULL;
}

const char *image_read(int file, uint32_t memory, uint32_t room, struct image *image)
{
	struct segments segments;
	Elf32_Ehdr header;
	const char *reason = header_read(file, &header);

	if (!reason)
		reason = segments_read(file, &header, memory, &segments);
	if (reason)
		return reason;
	image->size = size_of(&segments);
	if (!image->size)
		return "has nothing to load: its segments have no bytes";
	image->entry = header.e_entry;
	reason = segments_check(&segments, image->entry);
	if (reason)
		return reason;
	if (image->size > room)
		return wrong("is too large: it has %u bytes, and the guest's `image_room` is %u",
			     image->size, room);
	return flatten(file, &segments, image);
}

uint32_t image_crc(const struct image *image)
{
	uint32_t crc = ~0u;

	for (uint32_t i = 0; i < image->size; i++) {
		crc ^= image->bytes[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}
