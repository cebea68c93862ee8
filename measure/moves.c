/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in for a guest whose second vCPU is asked to move, by the first one, at a chosen
 * instruction of what the VMM does for it on the second CPU, as nth.h says. A round ends on
 * whichever CPU the vCPU is by then. Behind the move, at behind=, the guest's memory is compared
 * with what it was there in the operation's first round, in which N is 0 and nobody asks. If the
 * Nth instruction is another one than in that, a fifth word of label= is set: the paths of rounds
 * may differ, since messages from other CPUs find the VMM in another state.
 * `python -m gandalf.stress.moves` drives it. Its options beside those of rounds.h are
 *
 *	behind=ADDRESS	linear: the memory is compared before this instruction
 *	ram=SIZE	bytes of the machine's memory
 *	memory=LOW-HIGH	physical: the guest's memory
 *	except=LOW-HIGH	pages of it that differ from round to round; up to four times
 *
 * Beside the lines of nth.h there are, of each round with a hit,
 *
 *	asked OPERATION N LATER PLACE
 *	behind OPERATION N RESULT
 *
 * LATER: the VMM's instructions from the one that was hit to the interrupt by which the request
 * came. PLACE: "amid" if the vCPU was on the other CPU when the operation ended, "after" if it has
 * left then. RESULT: as reference.h has it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "fail.h"
#include "nth.h"
#include "reference.h"
#include "rounds.h"

/* The CPU on which rounds begin. */
#define HOME 1u

const char plugin_name[] = "moves";
const int plugin_vcpus = 3;

static uint64_t behind;
const struct option plugin_options[] = {
	{ .name = "behind=", .number = &behind },
	{ .name = "ram=", .number = &compared.ram },
	{ .name = "memory=", .range = &compared.memory },
	{ .name = "except=", .range = compared.except, .times = &compared.exceptions,
	  .most = EXCEPTIONS },
	{ .name = NULL },
};

/* The operation that the reference is for; 0: none. Its path there. */
static uint32_t referred;
static uint32_t *path, length;
/* The request of this round has come, so many instructions behind the hit. */
static bool came;
static uint64_t later;
/* It ended on another CPU than it began. */
static bool amid;

void plugin_begin(unsigned vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	reference_find_memory();
	came = false;
	later = 0;
	nth_begin();
}

void plugin_end(unsigned vcpu, void *data)
{
	(void)data;
	amid = vcpu != HOME;
	if (nth.on && nth.label.at == 0) {
		length = rounds.length;
		memcpy(path, rounds.path, length * sizeof(*path));
	}
	nth_end();
}

static void stray_tell(uint32_t linear)
{
	uint32_t at = nth.label.at, astray = at > length || path[at - 1] != linear;

	cpu_physical_memory_rw(rounds.label + sizeof(nth.label), &astray, sizeof(astray), true);
}

void plugin_instruction(unsigned vcpu, void *data)
{
	uint32_t linear = (uint32_t)(uintptr_t)data;

	if (vcpu != HOME || !nth.on)
		return;
	later += nth.hit && !came;
	if (nth_step(linear))
		stray_tell(linear);
}

/* The operation has ended, and the vCPU has moved if it was asked to. */
static void on_behind(unsigned vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (nth.label.mark != NTH_MARK || nth.label.operation == 0)
		return;
	if (referred != nth.label.operation) {
		if (nth.label.at != 0)
			fail("an operation has no round without a move");
		referred = nth.label.operation;
		reference_take();
	} else if (nth.hit) {
		fprintf(rounds.output, "asked %u %u %llu %s\n", referred, nth.label.at,
			(unsigned long long)later, amid ? "amid" : "after");
		fprintf(rounds.output, "behind %u %u ", referred, nth.label.at);
		reference_compare(rounds.output);
	}
}

qemu_exec_callback *plugin_other(uint64_t linear)
{
	return linear == behind ? on_behind : NULL;
}

static void on_delivery(enum delivery what, uint32_t from_ring)
{
	(void)from_ring;
	came |= nth.hit && what == DELIVERY_HARDWARE;
}

void plugin_vcpu(qemu_plugin_id id, unsigned vcpu)
{
	(void)id;
	if (vcpu != HOME)
		return;
	check(cpu_find((int)HOME, sizeof(uint32_t), on_delivery));
	check(cpu_verify());
}

void plugin_start(void)
{
	reference_make();
	path = malloc(ROUNDS_PATH * sizeof(*path));
	if (!path)
		fail("there is no memory");
}

void plugin_finish(void)
{
}
