/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that lets another CPU act at a chosen instruction of the VMM on the first one. The
 * CPUs take turns in one thread, and each block of code is one instruction (-singlestep). In the
 * first CPU's Nth instruction of the VMM in a round it sets a word of the guest and ends the CPU's
 * turn behind that instruction; the other CPU, which waits for the word with PAUSE, acts, and its
 * next PAUSE gives the turn back. `python -m gandalf.stress.crossings` drives it. Options, each
 * NAME=VALUE:
 *
 *	out=FILE	where the lines below go
 *	begin=ADDRESS	a round begins before the instruction at this linear address
 *	end=ADDRESS	it ends before the instruction at this one
 *	label=ADDRESS	physical: four words of the guest, a mark (LABEL_MARK) without which there
 *			is no round, the number of the operation, N, 0 for none, and the word that
 *			is set
 *	vmm=LOW-HIGH	linear: the VMM's image
 *
 * Of a round in which no instruction was the Nth is written, with the VMM's instructions,
 *
 *	path OPERATION N ADDRESS...
 *
 * and of each other one
 *
 *	hit OPERATION N ADDRESS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "cpu.h"
#include "fail.h"
#include "qemu.h"

#define LABEL_MARK 0x63726f73u
#define PATH (1u << 20)

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

const char plugin_name[] = "crossings";

static struct {
	uint64_t begin, end, label;
	struct range vmm;
} options;

struct label {
	uint32_t mark, operation, at, go;
};

/* The round that is going on, from begin= to end=, and the VMM's instructions in it. */
static struct {
	bool on, hit;
	struct label label;
	uint32_t length;
} round_;
static uint32_t *path;
static FILE *output;

static void on_begin(unsigned vcpu, void *data)
{
	(void)data;
	if (vcpu != 0)
		return;
	cpu_physical_memory_rw(options.label, &round_.label, sizeof(round_.label), false);
	round_.on = round_.label.mark == LABEL_MARK && round_.label.operation != 0;
	round_.hit = false;
	round_.length = 0;
}

static void on_end(unsigned vcpu, void *data)
{
	(void)data;
	if (vcpu != 0 || !round_.on)
		return;
	round_.on = false;
	if (round_.hit) {
		fprintf(output, "hit %u %u 0x%x\n", round_.label.operation, round_.label.at,
			path[round_.label.at - 1]);
		return;
	}
	fprintf(output, "path %u %u", round_.label.operation, round_.label.at);
	for (uint32_t i = 0; i < round_.length; i++)
		fprintf(output, " 0x%x", path[i]);
	fprintf(output, "\n");
}

static void act_now(void)
{
	uint32_t go = 1;

	round_.hit = true;
	cpu_physical_memory_rw(options.label + offsetof(struct label, go), &go, sizeof(go), true);
	cpu_exit(cpu.qemu);
}

/* Each instruction of the VMM. */
static void on_instruction(unsigned vcpu, void *data)
{
	if (vcpu != 0 || !round_.on || round_.hit)
		return;
	if (round_.length == PATH)
		fail("an operation is too long");
	path[round_.length++] = (uint32_t)(uintptr_t)data;
	if (round_.length == round_.label.at)
		act_now();
}

static bool is_in(uint64_t address, const struct range *range)
{
	return address >= range->low && address < range->high;
}

static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
	struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, 0);
	uint64_t linear = qemu_plugin_insn_vaddr(instruction);
	qemu_exec_callback *call = linear == options.begin	       ? on_begin :
				   linear == options.end	       ? on_end :
				   is_in(linear, &options.vmm) ? on_instruction :
								 NULL;

	(void)id;
	if (qemu_plugin_tb_n_insns(block) != 1)
		fail("a block has several instructions; -singlestep is needed");
	if (call)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, call,
						       QEMU_CALLBACK_NO_REGISTERS,
						       (void *)(uintptr_t)linear);
}

static void on_delivery(enum delivery what, uint32_t from_ring)
{
	(void)what;
	(void)from_ring;
}

static void on_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	if (vcpu != 0)
		return;
	check(cpu_find(0, sizeof(uint32_t), on_delivery));
	check(cpu_verify());
}

static void on_exit_of_qemu(qemu_plugin_id id, void *unused)
{
	(void)id;
	(void)unused;
	if (fclose(output) != 0)
		fail("the output cannot be written");
}

static void parse(const char *argument)
{
	const struct {
		const char *name;
		uint64_t *number;
	} known[] = {
		{ "begin=", &options.begin },
		{ "end=", &options.end },
		{ "label=", &options.label },
	};

	if (strncmp(argument, "out=", 4) == 0) {
		output = fopen(argument + 4, "w");
		return;
	}
	if (strncmp(argument, "vmm=", 4) == 0) {
		options.vmm = argument_range(argument + 4);
		return;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(argument, known[i].name, strlen(known[i].name)) == 0) {
			*known[i].number = argument_number(argument + strlen(known[i].name));
			return;
		}
	fail("there is no such option");
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	if (!info->is_system || strcmp(info->target, "i386") != 0 || info->vcpus != 2)
		fail("this is for qemu-system-i386 with two CPUs");
	for (int i = 0; i < count; i++)
		parse(arguments[i]);
	if (!output)
		fail("out= is needed");
	path = malloc(PATH * sizeof(*path));
	if (!path)
		fail("there is no memory");
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
