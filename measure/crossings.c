/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that lets another CPU act at a chosen instruction of the VMM on the first one. The
 * CPUs take turns in one thread, and each block of code is one instruction (-singlestep). In the
 * first CPU's Nth instruction of the VMM in a round it sets a word of the guest and ends the CPU's
 * turn behind that instruction; the other CPU, which waits for the word with PAUSE, acts, and its
 * next PAUSE gives the turn back. `python -m gandalf.stress.crossings` drives it. Its options are
 * those of rounds.h. label= has four words: a mark (LABEL_MARK) without which there is no round,
 * the number of the operation, N, 0 for none, and the word that is set.
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

#include "cpu.h"
#include "fail.h"
#include "rounds.h"

#define LABEL_MARK 0x63726f73u

const char plugin_name[] = "crossings";
const int plugin_vcpus = 2;
const struct option plugin_options[] = { { .name = NULL } };

struct label {
	uint32_t mark, operation, at, go;
};

/* An instruction, on one of the VMM's stacks. */
struct place {
	uint64_t linear, esp;
};

/* The round that is going on. Instructions by which the VMM serves an interrupt amid the operation
 * do not count: while away is set, until the operation goes on at back. */
static struct {
	bool on, hit, away;
	struct label label;
	struct place back;
} round_;
/* Where the CPU was when it last looked for interrupts. */
static struct place looked_at;

void plugin_begin(unsigned vcpu, void *data)
{
	(void)data;
	if (vcpu != 0)
		return;
	cpu_physical_memory_rw(rounds.label, &round_.label, sizeof(round_.label), false);
	round_.on = round_.label.mark == LABEL_MARK && round_.label.operation != 0;
	round_.hit = round_.away = false;
	rounds.length = 0;
}

void plugin_end(unsigned vcpu, void *data)
{
	(void)data;
	if (vcpu != 0 || !round_.on)
		return;
	round_.on = false;
	if (round_.hit) {
		fprintf(rounds.output, "hit %u %u 0x%x\n", round_.label.operation, round_.label.at,
			rounds.path[round_.label.at - 1]);
		return;
	}
	fprintf(rounds.output, "path %u %u", round_.label.operation, round_.label.at);
	for (uint32_t i = 0; i < rounds.length; i++)
		fprintf(rounds.output, " 0x%x", rounds.path[i]);
	fprintf(rounds.output, "\n");
}

static void act_now(void)
{
	uint32_t go = 1;

	round_.hit = true;
	cpu_physical_memory_rw(rounds.label + offsetof(struct label, go), &go, sizeof(go), true);
	cpu_exit(cpu.qemu);
}

void plugin_instruction(unsigned vcpu, void *data)
{
	if (vcpu != 0 || !round_.on || round_.hit)
		return;
	if (round_.away && ((uintptr_t)data != round_.back.linear ||
			    cpu_word(cpu.esp) != round_.back.esp))
		return;
	round_.away = false;
	rounds_step((uint32_t)(uintptr_t)data);
	if (rounds.length == round_.label.at)
		act_now();
}

qemu_exec_callback *plugin_other(uint64_t linear)
{
	(void)linear;
	return NULL;
}

static void on_delivery(enum delivery what, uint32_t from_ring)
{
	if (what == DELIVERY_NONE)
		looked_at = (struct place){ cpu_linear(), cpu_word(cpu.esp) };
	if (what != DELIVERY_HARDWARE || from_ring != 0 || round_.away)
		return;
	round_.away = true;
	round_.back = looked_at;
}

void plugin_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	if (vcpu != 0)
		return;
	check(cpu_find(0, sizeof(uint32_t), on_delivery));
	check(cpu_verify());
}

void plugin_start(void)
{
}

void plugin_finish(void)
{
}
