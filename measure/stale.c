/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that looks for what a TLB would still let ring 3 reach, though the page tables do
 * not. QEMU cannot show that: its TLB forgets all at each load of CR3. This model forgets only what
 * it must. It has room for each page that there is, keeps global pages when CR3 is loaded, and
 * drops a page only by INVLPG, and all by a change of CR4.PGE. A real TLB may keep as much.
 *
 * Each time that ring 0 is left for ring 3, every page that the model has for ring 3 must be as the
 * page tables say, or they must allow more. tests/boot/test_two_level_views.py drives it. Its one
 * option is out=FILE, where it writes
 *
 *	stale LINEAR HAD NOW	a page and its entries, the model's and the page tables'; once for
 *				each page
 *	looked TIMES PAGES	at the end: how often ring 3 was entered, and how many pages the
 *				model had then, all together
 *
 * Pages that only ring 0 may use are left out, since ring 3 gains nothing by them. What the CPU
 * itself reads and writes, as descriptors, does not pass the model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "decode.h"
#include "fail.h"
#include "qemu.h"

#define PAGE_BITS 12u
#define PAGES (1u << 20)
#define CR0_PG 0x80000000u
#define CR4_PGE 0x80u
#define ENTRY_P 0x1u
#define ENTRY_W 0x2u
#define ENTRY_U 0x4u
#define ENTRY_LARGE 0x80u
#define ENTRY_G 0x100u
#define ENTRY_FRAME 0xfffff000u
#define LARGE_FRAME 0xffc00000u

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

const char plugin_name[] = "stale";

static FILE *output;
static const void *cr0, *cr3, *cr4, *registers;
static uint64_t times, looked;

/* The model: by page, an entry of ring 3, which is 0 where there is none; and the pages that may
 * have one. */
static uint32_t entries[PAGES], filled[PAGES], filled_count;
static bool is_filled[PAGES], reported[PAGES];

/* What was last seen, when a block of instructions began. */
static uint32_t ring;
static uint64_t cr4_seen;
/* CR3 is being loaded: the next block begins behind that. */
static bool loading;

static uint32_t entry_read(uint64_t address)
{
	uint32_t entry;

	cpu_physical_memory_rw(address, &entry, sizeof(entry), false);
	return entry;
}

/* Returns the entry of a page as the page tables that are loaded have it, with the rights of the
 * directory: 0 if ring 3 may not use it. A large page's is that of its part. */
static uint32_t walk(uint32_t page)
{
	uint32_t pde = entry_read((cpu_word(cr3) & ENTRY_FRAME) + page / 1024 * 4), pte;

	if ((~pde & (ENTRY_P | ENTRY_U)) != 0)
		return 0;
	if (pde & ENTRY_LARGE)
		return (pde & LARGE_FRAME) | (page % 1024) << PAGE_BITS |
		       (pde & (ENTRY_P | ENTRY_U | ENTRY_W | ENTRY_G));
	pte = entry_read((pde & ENTRY_FRAME) + page % 1024 * 4);
	if ((~pte & (ENTRY_P | ENTRY_U)) != 0)
		return 0;
	return pte & (ENTRY_FRAME | ENTRY_P | ENTRY_U | ENTRY_G | (pde & ENTRY_W));
}

static void tlb_fill(uint64_t linear)
{
	uint32_t page = (uint32_t)linear >> PAGE_BITS;

	if (!(cpu_word(cr0) & CR0_PG) || entries[page] != 0)
		return;
	entries[page] = walk(page);
	if (entries[page] == 0 || is_filled[page])
		return;
	is_filled[page] = true;
	filled[filled_count++] = page;
}

/* Empties the model, but for global pages if they are kept. */
static void tlb_empty(bool globals)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < filled_count; i++) {
		uint32_t page = filled[i];

		if (globals && (entries[page] & ENTRY_G)) {
			filled[kept++] = page;
			continue;
		}
		entries[page] = 0;
		is_filled[page] = false;
	}
	filled_count = kept;
}

/* Ring 3 is about to go on: looks at all that it could use. */
static void tlb_look(void)
{
	times++;
	for (uint32_t i = 0; i < filled_count; i++) {
		uint32_t page = filled[i], had = entries[page], now;

		if (had == 0)
			continue;
		looked++;
		now = walk(page);
		if ((now & ENTRY_FRAME) == (had & ENTRY_FRAME) && !(had & ~now & ENTRY_W) &&
		    now != 0)
			continue;
		if (!reported[page])
			fprintf(output, "stale 0x%08x 0x%08x 0x%08x\n", page << PAGE_BITS, had,
				now);
		reported[page] = true;
	}
}

static void on_block(unsigned vcpu, void *data)
{
	uint64_t cr4_now = cpu_word(cr4);
	uint32_t before = ring;

	(void)vcpu;
	if ((cr4_now ^ cr4_seen) & CR4_PGE)
		tlb_empty(false);
	else if (loading)
		tlb_empty(cr4_now & CR4_PGE);
	cr4_seen = cr4_now;
	loading = false;
	ring = cpu_ring();
	if (ring == 3 && before != 3)
		tlb_look();
	tlb_fill((uintptr_t)data);
}

static void on_load(unsigned vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	loading = cpu_ring() == 0;
}

/* data: the register that has the address. */
static void on_invlpg(unsigned vcpu, void *data)
{
	const char *value = (const char *)registers + (uintptr_t)data * cpu.word;

	(void)vcpu;
	if (cpu_ring() == 0)
		entries[(uint32_t)cpu_word(value) >> PAGE_BITS] = 0;
}

static void on_access(unsigned vcpu, uint32_t info, uint64_t linear, void *data)
{
	(void)vcpu;
	(void)info;
	(void)data;
	tlb_fill(linear);
}

static void watch(struct qemu_plugin_insn *instruction)
{
	const uint8_t *bytes = qemu_plugin_insn_data(instruction);
	enum event event = decode(bytes, qemu_plugin_insn_size(instruction), false);
	uintptr_t operand = 0;
	qemu_exec_callback *call = NULL;

	if (event == EVENT_CR3_LOAD) {
		call = on_load;
	} else if (event == EVENT_INVLPG) {
		call = on_invlpg;
		/* As the VMM's compiler writes it: 0F 01 and an address in a register. A guest's
		 * are not carried out. */
		operand = bytes[2] & 7u;
		if ((bytes[2] >> 6 != 0 || operand == 4 || operand == 5) && cpu_ring() == 0)
			fail("an INVLPG has another operand than a register");
	}
	if (call)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, call,
						       QEMU_CALLBACK_NO_REGISTERS,
						       (void *)operand);
	qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_CALLBACK_NO_REGISTERS,
					 QEMU_MEMORY_READ_WRITE, NULL);
}

static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_CALLBACK_NO_REGISTERS,
					     (void *)(uintptr_t)qemu_plugin_tb_vaddr(block));
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
		watch(qemu_plugin_tb_get_insn(block, i));
}

static void on_delivery(enum delivery what, uint32_t from_ring)
{
	(void)what;
	(void)from_ring;
}

static void on_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	check(cpu_find((int)vcpu, sizeof(uint32_t), on_delivery));
	check(cpu_verify());
	cr0 = cpu_field("env.cr[0]", cpu.word);
	cr3 = cpu_field("env.cr[3]", cpu.word);
	cr4 = cpu_field("env.cr[4]", cpu.word);
	registers = cpu_field("env.regs", cpu.word);
	if (!cr0 || !cr3 || !cr4 || !registers)
		fail("QEMU's table of registers is not as in release 7.2");
}

static void on_exit_of_qemu(qemu_plugin_id id, void *unused)
{
	(void)id;
	(void)unused;
	fprintf(output, "looked %" PRIu64 " %" PRIu64 "\n", times, looked);
	if (fclose(output) != 0)
		fail("the output cannot be written");
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	if (!info->is_system || strcmp(info->target, "i386") != 0 || info->vcpus != 1)
		fail("this is for qemu-system-i386 with one CPU");
	if (count != 1 || strncmp(arguments[0], "out=", 4) != 0)
		fail("out= is needed, and nothing else");
	output = fopen(arguments[0] + 4, "w");
	if (!output)
		fail("the output cannot be opened");
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
