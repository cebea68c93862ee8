/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that looks at rounds of a guest's operation, most of which an interrupt hits: at
 * which instruction of the VMM it was taken, and whether the operation came to the same as in a
 * round without. `python -m gandalf.stress.boundaries` drives it. Options, each NAME=VALUE:
 *
 *	out=FILE	where the lines below go
 *	begin=ADDRESS	a round begins before the instruction at this linear address
 *	end=ADDRESS	it ends before the instruction at this one
 *	label=ADDRESS	physical: three words of the guest, a mark (LABEL_MARK) without which there
 *			is no round, the number of the operation, 0 for none, and the number of the
 *			round, 0 for one that may become the operation's reference
 *	vmm=LOW-HIGH	linear: the VMM's image
 *	handler=ADDRESS	linear: the first instruction of the RTOS's handler
 *	ram=SIZE	bytes of the machine's memory
 *	memory=LOW-HIGH	physical: the guest's memory
 *	except=LOW-HIGH	pages of it that differ from round to round; up to four times
 *	below=ADDRESS	shadow page tables are compared below this linear address
 *
 * The first of those in which no interrupt comes is the operation's reference. Of it is written
 *
 *	path OPERATION ADDRESS...	the VMM's instructions, with a "-" where none can be taken,
 *			and a "+" at the first behind an exception or INT n
 *
 * and of each later one, in which the numbers are those of instructions of the VMM,
 *
 *	round OPERATION ROUND hit INDEX ADDRESS LATENCY INTERRUPTS RESULT
 *	round OPERATION ROUND missed RESULT
 *
 * hit: an interrupt was taken in the VMM, in front of the INDEXth instruction of the path, at
 * ADDRESS. LATENCY: instructions from there to the RTOS's handler; 0: it did not run. INTERRUPTS:
 * those that were taken until then, that one included; with two, the first was the VMM's clock and
 * the RTOS's waited for it. RESULT: "same", or "memory=ADDRESS" or "table=LINEAR" where the first
 * difference from the reference is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "cpu.h"
#include "fail.h"
#include "qemu.h"
#include "reference.h"

#define LABEL_MARK 0x6c61626cu
#define PATH (1u << 20)

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

const char plugin_name[] = "boundaries";

static struct {
	uint64_t begin, end, label, handler;
	struct range vmm;
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
	uint32_t interrupts; /* taken before the handler */
} round_;

static FILE *output;
static uint64_t handlers;
/* The operation that the reference is for; 0: none. */
static uint32_t referred;
/* The VMM's instructions in the round that the reference is of, or may become it. */
static uint32_t *path;
static char *marks;
static uint32_t length;
/* An exception has just been delivered. */
static bool entered;
/* Where the CPU was when it last looked for interrupts. */
static uint64_t looked_at;

static void refer(void)
{
	reference_take();
	fprintf(output, "path %u", referred);
	for (uint32_t i = 0; i < length; i++)
		fprintf(output, " 0x%x%c", path[i], marks[i]);
	fprintf(output, "\n");
}

static void on_begin(unsigned vcpu, void *data)
{
	struct label label;

	(void)vcpu;
	(void)data;
	reference_find_memory();
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
		fprintf(output, "hit %u 0x%x %llu %u ", round_.index, round_.at,
			(unsigned long long)round_.latency, round_.interrupts);
	else
		fprintf(output, "missed ");
	reference_compare(output);
}

/* How an instruction is marked in the path. */
static char mark_now(void)
{
	if (!(*cpu.eflags & EFLAGS_IF) || (*cpu.hflags & HFLAGS_SHADOW))
		return '-';
	return entered ? '+' : ' ';
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
		marks[length++] = mark_now();
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
	if (what != DELIVERY_HARDWARE || !round_.on || round_.elsewhere)
		return;
	if (round_.hit) {
		if (round_.latency == 0)
			round_.interrupts++;
		return;
	}
	if (from_ring != 0) {
		round_.elsewhere = true;
		return;
	}
	round_.hit = true;
	round_.interrupts = 1;
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
	reference_find_cpu();
}

static void on_exit_of_qemu(qemu_plugin_id id, void *unused)
{
	(void)id;
	(void)unused;
	fprintf(output, "handlers %llu\n", (unsigned long long)handlers);
	if (fclose(output) != 0)
		fail("the output cannot be written");
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
		{ "below=", &compared.below, NULL },  { "vmm=", NULL, &options.vmm },
		{ "ram=", &compared.ram, NULL },      { "memory=", NULL, &compared.memory },
		{ "except=", NULL, &compared.except[compared.exceptions % EXCEPTIONS] },
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
			*known[i].number = argument_number(argument + size);
		else
			*known[i].range = argument_range(argument + size);
		if (strcmp(known[i].name, "except=") == 0 && ++compared.exceptions > EXCEPTIONS)
			fail("there are too many exceptions");
		return;
	}
	fail("there is no such option");
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	if (!info->is_system || strcmp(info->target, "i386") != 0 || info->vcpus != 1)
		fail("this is for qemu-system-i386 with one CPU");
	for (int i = 0; i < count; i++)
		parse(arguments[i]);
	if (!output)
		fail("out= is needed");
	path = malloc(PATH * sizeof(*path));
	marks = malloc(PATH);
	if (!path || !marks)
		fail("there is no memory");
	reference_make();
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
