/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plug-in that lets another CPU act at a chosen instruction of the VMM on the first one, as
 * nth.h says. `python -m gandalf.stress.crossings` drives it. Its options are those of rounds.h.
 */
#include "cpu.h"
#include "fail.h"
#include "nth.h"
#include "rounds.h"

const char plugin_name[] = "crossings";
const int plugin_vcpus = 2;
const struct option plugin_options[] = { { .name = NULL } };

/* An instruction, on one of the VMM's stacks. */
struct place {
	uint64_t linear, esp;
};

/* Instructions by which the VMM serves an interrupt amid the operation do not count: while away is
 * set, until the operation goes on at back. */
static bool away;
static struct place back;
/* Where the CPU was when it last looked for interrupts. */
static struct place looked_at;

void plugin_begin(unsigned vcpu, void *data)
{
	(void)data;
	if (vcpu != 0)
		return;
	away = false;
	nth_begin();
}

void plugin_end(unsigned vcpu, void *data)
{
	(void)data;
	if (vcpu == 0)
		nth_end();
}

void plugin_instruction(unsigned vcpu, void *data)
{
	if (vcpu != 0 || !nth.on)
		return;
	if (away && ((uintptr_t)data != back.linear || cpu_word(cpu.esp) != back.esp))
		return;
	away = false;
	nth_step((uint32_t)(uintptr_t)data);
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
	if (what != DELIVERY_HARDWARE || from_ring != 0 || away)
		return;
	away = true;
	back = looked_at;
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
