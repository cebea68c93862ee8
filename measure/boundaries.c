/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that looks at rounds of a guest's operation, most of which an interrupt hits: at
 * which instruction of the VMM it was taken, and whether the operation came to the same as in a
 * round without. `python -m gandalf.stress.boundaries` drives it. label= has three words: a mark
 * (LABEL_MARK) without which there is no round, the number of the operation, 0 for none, and the
 * number of the round, 0 for one that may become the operation's reference. Its options beside
 * those of rounds.h are
 *
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

#include "cpu.h"
#include "fail.h"
#include "reference.h"
#include "rounds.h"

#define LABEL_MARK 0x6c61626cu

const char plugin_name[] = "boundaries";
const int plugin_vcpus = 1;

static uint64_t handler;
const struct option plugin_options[] = {
	{ .name = "handler=", .number = &handler },
	{ .name = "below=", .number = &compared.below },
	{ .name = "ram=", .number = &compared.ram },
	{ .name = "memory=", .range = &compared.memory },
	{ .name = "except=", .range = compared.except, .times = &compared.exceptions,
	  .most = EXCEPTIONS },
	{ .name = NULL },
};

struct label {
	uint32_t mark, operation, round;
};

/* The round that is going on. */
static struct {
	bool on, hit, elsewhere;
	struct label label;
	uint32_t index, at; /* where it was hit */
	uint64_t executed;  /* instructions of the VMM since then */
	uint64_t latency;
	uint32_t interrupts; /* taken before the handler */
} round_;

static uint64_t handlers;
/* The operation that the reference is for; 0: none. */
static uint32_t referred;
/* Of each instruction of the path, which is that of the round that the reference is of, or that
 * may become it. */
static char *marks;
/* An exception has just been delivered. */
static bool entered;
/* Where the CPU was when it last looked for interrupts. */
static uint64_t looked_at;

static void refer(void)
{
	reference_take();
	fprintf(rounds.output, "path %u", referred);
	for (uint32_t i = 0; i < rounds.length; i++)
		fprintf(rounds.output, " 0x%x%c", rounds.path[i], marks[i]);
	fprintf(rounds.output, "\n");
}

void plugin_begin(unsigned vcpu, void *data)
{
	struct label label;

	(void)vcpu;
	(void)data;
	reference_find_memory();
	cpu_physical_memory_rw(rounds.label, &label, sizeof(label), false);
	memset(&round_, 0, sizeof(round_));
	round_.on = label.mark == LABEL_MARK && label.operation != 0;
	round_.label = label;
	rounds.length = 0;
}

void plugin_end(unsigned vcpu, void *data)
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
	fprintf(rounds.output, "round %u %u ", referred, round_.label.round);
	if (round_.hit)
		fprintf(rounds.output, "hit %u 0x%x %llu %u ", round_.index, round_.at,
			(unsigned long long)round_.latency, round_.interrupts);
	else
		fprintf(rounds.output, "missed ");
	reference_compare(rounds.output);
}

/* How an instruction is marked in the path. */
static char mark_now(void)
{
	if (!(*cpu.eflags & EFLAGS_IF) || (*cpu.hflags & HFLAGS_SHADOW))
		return '-';
	return entered ? '+' : ' ';
}

void plugin_instruction(unsigned vcpu, void *data)
{
	(void)vcpu;
	if (!round_.on)
		return;
	if (round_.hit) {
		round_.executed++;
	} else if (!round_.elsewhere) {
		rounds_step((uint32_t)(uintptr_t)data);
		marks[rounds.length - 1] = mark_now();
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
	round_.index = rounds.length;
	round_.at = (uint32_t)looked_at;
}

qemu_exec_callback *plugin_other(uint64_t linear)
{
	return linear == handler ? on_handler : NULL;
}

void plugin_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	check(cpu_find((int)vcpu, sizeof(uint32_t), on_delivery));
	check(cpu_verify());
	reference_find_cpu();
}

void plugin_start(void)
{
	marks = malloc(ROUNDS_PATH);
	if (!marks)
		fail("there is no memory");
	reference_make();
}

void plugin_finish(void)
{
	fprintf(rounds.output, "handlers %llu\n", (unsigned long long)handlers);
}
