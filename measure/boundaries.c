/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that looks at rounds of a guest's operation, most of which an interrupt hits: at
 * which instruction of the VMM it was taken, and whether the operation came to the same as in a
 * round without. `python -m gandalf.stress.boundaries` drives it. Options, each NAME=VALUE:
 *
 *	out=FILE	where the lines below go
 *	begin=ADDRESS	a round begins before the instruction at this linear address
 *	end=ADDRESS	it ends before the instruction at this one
 *	label=ADDRESS	physical: three words of the guest, a mark (LABEL_MARK) without which there is no
 *			round, the number of the operation, 0 for none, and the number of the round, 0
 *			for one that may become the operation's reference
 *	vmm=LOW-HIGH	linear: the VMM's image
 *	handler=ADDRESS	linear: the first instruction of the RTOS's handler
 *	ram=SIZE	bytes of the machine's memory
 *	memory=LOW-HIGH	physical: the guest's memory
 *	except=LOW-HIGH	pages of it that differ from round to round; up to four times
 *	below=ADDRESS	shadow page tables are compared below this linear address
 *
 * The first of those in which no interrupt comes is the operation's reference. Of it is written
 *
 *	path OPERATION ADDRESS...	the VMM's instructions, with a "-" where none can be taken, and a "+"
 *			at the first behind an exception or INT n
 *
 * and of each later one, in which the numbers are those of instructions of the VMM,
 *
 *	round OPERATION ROUND hit INDEX ADDRESS LATENCY RESULT
 *	round OPERATION ROUND missed RESULT
 *
 * hit: an interrupt was taken in the VMM, in front of the INDEXth instruction of the path, at ADDRESS.
 * LATENCY: instructions from there to the RTOS's handler; 0: it did not run. RESULT: "same", or
 * "memory=ADDRESS" or "table=LINEAR" where the first difference from the reference is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "qemu.h"

#define LABEL_MARK 0x6c61626cu
#define EXCEPTIONS 4
#define PATH (1u << 20)
#define DIRECTORY 1024
#define PAGE 4096u
#define RAM 0x100000u /* above what a PC has below a megabyte */
#define PRESENT 0x1u
#define LARGE 0x80u
#define FRAME 0xfffff000u

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

struct range {
	uint64_t low, high;
};

static struct {
	uint64_t begin, end, label, handler, below, ram;
	struct range vmm, memory, except[EXCEPTIONS];
	unsigned exceptions;
} options;

struct label {
	uint32_t mark, operation, round;
};

/* The round that is going on, from begin= to end=. */
static struct {
	bool on, hit, elsewhere;
	struct label label;
	uint32_t index, at; /* where it was hit */
	uint64_t executed;  /* instructions of the VMM since then */
	uint64_t latency;
} round_;

static FILE *output;
static const uint8_t zeros[PAGE];
static const void *cr3;
static uint64_t handlers;
/* The operation that the reference is for; 0: none. */
static uint32_t referred;
/* The machine's memory from RAM on, as the emulator has it. */
static const uint8_t *ram;
/* The reference: pages of the guest, of which those that are all zero are not kept, and tables. */
static uint8_t *reference;
static bool *is_zero;
static uint32_t directory_referred[DIRECTORY], tables_referred[DIRECTORY][DIRECTORY];
static uint32_t *path;
static char *marks;
static uint32_t length;
/* An exception has just been delivered. */
static bool entered;
/* Where the CPU was when it last looked for interrupts. */
static uint64_t looked_at;

static void fail(const char *why)
{
	fprintf(stderr, "boundaries: %s\n", why);
	_Exit(1);
}

static void check(const char *wrong)
{
	if (wrong)
		fail(wrong);
}

/* A page of the machine's memory. */
static const void *page_at(uint64_t address)
{
	if (address < RAM || address + PAGE > options.ram)
		fail("a page table is not in the machine's memory");
	return ram + (address - RAM);
}

static bool is_excepted(uint64_t address)
{
	for (unsigned i = 0; i < options.exceptions; i++)
		if (address >= options.except[i].low && address < options.except[i].high)
			return true;
	return false;
}

static void memory_refer(void)
{
	for (uint64_t at = options.memory.low; at < options.memory.high; at += PAGE) {
		uint64_t offset = at - options.memory.low;

		is_zero[offset / PAGE] = memcmp(page_at(at), zeros, PAGE) == 0;
		if (!is_zero[offset / PAGE])
			memcpy(reference + offset, page_at(at), PAGE);
	}
}

/* Where the first difference is; the end of the memory if there is none. */
static uint64_t memory_compare(void)
{
	for (uint64_t at = options.memory.low; at < options.memory.high; at += PAGE) {
		uint64_t offset = at - options.memory.low;
		const uint8_t *now = page_at(at);
		const uint8_t *then = is_zero[offset / PAGE] ? zeros : reference + offset;

		if (is_excepted(at) || memcmp(now, then, PAGE) == 0)
			continue;
		while (*now == *then)
			now++, then++, at++;
		return at;
	}
	return options.memory.high;
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
	return (uint32_t)(options.below / (PAGE * DIRECTORY));
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
	return options.below;
}

static void compare(void)
{
	uint64_t address = memory_compare(), linear = tables_compare();

	if (address != options.memory.high)
		fprintf(output, "memory=0x%llx\n", (unsigned long long)address);
	else if (linear != options.below)
		fprintf(output, "table=0x%llx\n", (unsigned long long)linear);
	else
		fprintf(output, "same\n");
}

static void refer(void)
{
	memory_refer();
	tables_refer();
	fprintf(output, "path %u", referred);
	for (uint32_t i = 0; i < length; i++)
		fprintf(output, " 0x%x%c", path[i], marks[i]);
	fprintf(output, "\n");
}

static void ram_find(void)
{
	uint64_t size = options.ram - RAM;

	ram = cpu_physical_memory_map(RAM, &size, false);
	if (!ram || size != options.ram - RAM)
		fail("the machine's memory is not where it is expected");
}

static void on_begin(unsigned vcpu, void *data)
{
	struct label label;

	(void)vcpu;
	(void)data;
	if (!ram)
		ram_find();
	cpu_physical_memory_rw(options.label, &label, sizeof(label), false);
	memset(&round_, 0, sizeof(round_));
	round_.on = label.mark == LABEL_MARK && label.operation != 0;
	round_.label = label;
	length = 0;
}

static void on_end(unsigned vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!round_.on)
		return;
	round_.on = false;
	if (referred != round_.label.operation) {
		if (round_.label.round != 0)
			fail("an operation has no round without an interrupt");
		if (round_.hit || round_.elsewhere)
			return;
		referred = round_.label.operation;
		refer();
		return;
	}
	fprintf(output, "round %u %u ", referred, round_.label.round);
	if (round_.hit)
		fprintf(output, "hit %u 0x%x %llu ", round_.index, round_.at,
			(unsigned long long)round_.latency);
	else
		fprintf(output, "missed ");
	compare();
}

/* Each instruction of the VMM. */
static void on_instruction(unsigned vcpu, void *data)
{
	(void)vcpu;
	if (!round_.on)
		return;
	if (round_.hit) {
		round_.executed++;
	} else if (!round_.elsewhere) {
		if (length == PATH)
			fail("an operation is too long");
		path[length] = (uint32_t)(uintptr_t)data;
		marks[length++] = !(*cpu.eflags & EFLAGS_IF) || (*cpu.hflags & HFLAGS_SHADOW) ? '-' :
				  entered						      ? '+' :
												' ';
	}
	entered = false;
}

static void on_handler(unsigned vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	handlers++;
	if (round_.on && round_.hit && round_.latency == 0)
		round_.latency = round_.executed;
}

static void on_delivery(enum delivery what, uint32_t from_ring)
{
	if (what == DELIVERY_NONE)
		looked_at = cpu_linear();
	entered = what == DELIVERY_EXCEPTION;
	if (what != DELIVERY_HARDWARE || !round_.on || round_.hit || round_.elsewhere)
		return;
	if (from_ring != 0) {
		round_.elsewhere = true;
		return;
	}
	round_.hit = true;
	round_.index = length;
	round_.at = (uint32_t)looked_at;
}

static bool is_in(uint64_t address, const struct range *range)
{
	return address >= range->low && address < range->high;
}

static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint64_t linear = qemu_plugin_insn_vaddr(instruction);
		qemu_exec_callback *call = linear == options.begin	  ? on_begin :
					   linear == options.end	  ? on_end :
					   linear == options.handler	  ? on_handler :
					   is_in(linear, &options.vmm) ? on_instruction :
									 NULL;

		if (call)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, call,
							       QEMU_CALLBACK_NO_REGISTERS,
							       (void *)(uintptr_t)linear);
	}
}

static void on_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	check(cpu_find((int)vcpu, sizeof(uint32_t), on_delivery));
	check(cpu_verify());
	cr3 = cpu_field("env.cr[3]", cpu.word);
	if (!cr3)
		fail("QEMU's table of registers is not as in release 7.2");
}

static void on_exit_of_qemu(qemu_plugin_id id, void *unused)
{
	(void)id;
	(void)unused;
	fprintf(output, "handlers %llu\n", (unsigned long long)handlers);
	if (fclose(output) != 0)
		fail("the output cannot be written");
}

static uint64_t number_of(const char *text, char end)
{
	char *rest;
	uint64_t number = strtoull(text, &rest, 0);

	if (rest == text || *rest != end)
		fail("an option needs a number");
	return number;
}

static struct range range_of(const char *text)
{
	const char *dash = strchr(text, '-');

	if (!dash)
		fail("vmm=, memory= and except= need LOW-HIGH");
	return (struct range){ number_of(text, '-'), number_of(dash + 1, '\0') };
}

static void parse(const char *argument)
{
	const struct {
		const char *name;
		uint64_t *number;
		struct range *range;
	} known[] = {
		{ "begin=", &options.begin, NULL },   { "end=", &options.end, NULL },
		{ "label=", &options.label, NULL },   { "handler=", &options.handler, NULL },
		{ "below=", &options.below, NULL },   { "vmm=", NULL, &options.vmm },
		{ "ram=", &options.ram, NULL },	      { "memory=", NULL, &options.memory },
		{ "except=", NULL, &options.except[options.exceptions % EXCEPTIONS] },
	};

	if (strncmp(argument, "out=", 4) == 0) {
		output = fopen(argument + 4, "w");
		return;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t size = strlen(known[i].name);

		if (strncmp(argument, known[i].name, size) != 0)
			continue;
		if (known[i].number)
			*known[i].number = number_of(argument + size, '\0');
		else
			*known[i].range = range_of(argument + size);
		if (strcmp(known[i].name, "except=") == 0 && ++options.exceptions > EXCEPTIONS)
			fail("there are too many exceptions");
		return;
	}
	fail("there is no such option");
}

static bool is_page(uint64_t address)
{
	return address % PAGE == 0;
}

static void allocate(void)
{
	uint64_t size = options.memory.high - options.memory.low;

	reference = malloc(size);
	is_zero = malloc(size / PAGE);
	path = malloc(PATH * sizeof(*path));
	marks = malloc(PATH);
	if (!reference || !is_zero || !path || !marks)
		fail("there is no memory");
	for (unsigned i = 0; i < options.exceptions; i++)
		if (!is_page(options.except[i].low) || !is_page(options.except[i].high))
			fail("except= needs whole pages");
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	if (!info->is_system || strcmp(info->target, "i386") != 0 || info->vcpus != 1)
		fail("this is for qemu-system-i386 with one CPU");
	for (int i = 0; i < count; i++)
		parse(arguments[i]);
	if (!output || !options.ram || !is_page(options.memory.low) ||
	    !is_page(options.memory.high))
		fail("out=, ram= and memory= are needed, and memory= in whole pages");
	allocate();
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
