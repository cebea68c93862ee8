/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's memory and the shadow page tables, kept and compared. See reference.h. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "fail.h"
#include "qemu.h"

#define DIRECTORY 1024
#define PAGE 4096u
#define RAM 0x100000u /* above what a PC has below a megabyte */
#define PRESENT 0x1u
#define LARGE 0x80u
#define FRAME 0xfffff000u

struct compared compared;

static const uint8_t zeros[PAGE];
static const void *cr3;
/* The machine's memory from RAM on, as the emulator has it. */
static const uint8_t *ram;
/* Pages of the guest, of which those that are all zero are not kept, and tables. */
static uint8_t *reference;
static bool *is_zero;
static uint32_t directory_referred[DIRECTORY], tables_referred[DIRECTORY][DIRECTORY];

static bool is_page(uint64_t address)
{
	return address % PAGE == 0;
}

void reference_make(void)
{
	uint64_t size = compared.memory.high - compared.memory.low;

	if (!compared.ram || !is_page(compared.memory.low) || !is_page(compared.memory.high))
		fail("ram= and memory= are needed, and memory= in whole pages");
	for (unsigned i = 0; i < compared.exceptions; i++)
		if (!is_page(compared.except[i].low) || !is_page(compared.except[i].high))
			fail("except= needs whole pages");
	reference = malloc(size);
	is_zero = malloc(size / PAGE);
	if (!reference || !is_zero)
		fail("there is no memory");
}

void reference_find_cpu(void)
{
	cr3 = cpu_field("env.cr[3]", cpu.word);
	if (!cr3)
		fail("QEMU's table of registers is not as in release 7.2");
}

void reference_find_memory(void)
{
	uint64_t size = compared.ram - RAM;

	if (ram)
		return;
	ram = cpu_physical_memory_map(RAM, &size, false);
	if (!ram || size != compared.ram - RAM)
		fail("the machine's memory is not where it is expected");
}

/* A page of the machine's memory. */
static const void *page_at(uint64_t address)
{
	if (address < RAM || address + PAGE > compared.ram)
		fail("a page table is not in the machine's memory");
	return ram + (address - RAM);
}

static bool is_excepted(uint64_t address)
{
	for (unsigned i = 0; i < compared.exceptions; i++)
		if (address >= compared.except[i].low && address < compared.except[i].high)
			return true;
	return false;
}

static void memory_refer(void)
{
	for (uint64_t at = compared.memory.low; at < compared.memory.high; at += PAGE) {
		uint64_t offset = at - compared.memory.low;

		is_zero[offset / PAGE] = memcmp(page_at(at), zeros, PAGE) == 0;
		if (!is_zero[offset / PAGE])
			memcpy(reference + offset, page_at(at), PAGE);
	}
}

/* Where the first difference is; the end of the memory if there is none. */
static uint64_t memory_compare(void)
{
	for (uint64_t at = compared.memory.low; at < compared.memory.high; at += PAGE) {
		uint64_t offset = at - compared.memory.low;
		const uint8_t *now = page_at(at);
		const uint8_t *then = is_zero[offset / PAGE] ? zeros : reference + offset;

		if (is_excepted(at) || memcmp(now, then, PAGE) == 0)
			continue;
		while (*now == *then)
			now++, then++, at++;
		return at;
	}
	return compared.memory.high;
}

/* The shadow as the CPU sees it: which frames hold its tables does not matter. */
static uint32_t directory_entry(uint32_t index)
{
	const uint32_t *directory = page_at(cpu_word(cr3) & FRAME);

	return directory[index];
}

static bool has_table(uint32_t entry)
{
	return (entry & (PRESENT | LARGE)) == PRESENT;
}

static uint32_t without_frame(uint32_t entry)
{
	return has_table(entry) ? entry & ~FRAME : entry;
}

static uint32_t directory_size(void)
{
	return (uint32_t)(compared.below / (PAGE * DIRECTORY));
}

static void tables_refer(void)
{
	for (uint32_t i = 0; i < directory_size(); i++) {
		uint32_t entry = directory_entry(i);

		directory_referred[i] = without_frame(entry);
		if (has_table(entry))
			memcpy(tables_referred[i], page_at(entry & FRAME), PAGE);
	}
}

/* The linear address that the first difference is for; the end of all if there is none. */
static uint64_t tables_compare(void)
{
	for (uint32_t i = 0; i < directory_size(); i++) {
		uint32_t entry = directory_entry(i);
		const uint32_t *table;

		if (without_frame(entry) != directory_referred[i])
			return (uint64_t)i * DIRECTORY * PAGE;
		if (!has_table(entry))
			continue;
		table = page_at(entry & FRAME);
		for (uint32_t j = 0; j < DIRECTORY; j++)
			if (table[j] != tables_referred[i][j])
				return ((uint64_t)i * DIRECTORY + j) * PAGE;
	}
	return compared.below;
}

void reference_take(void)
{
	memory_refer();
	tables_refer();
}

void reference_compare(FILE *output)
{
	uint64_t address = memory_compare(), linear = tables_compare();

	if (address != compared.memory.high)
		fprintf(output, "memory=0x%llx\n", (unsigned long long)address);
	else if (linear != compared.below)
		fprintf(output, "table=0x%llx\n", (unsigned long long)linear);
	else
		fprintf(output, "same\n");
}
