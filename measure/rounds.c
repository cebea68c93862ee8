/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of a guest's operation: see rounds.h. */
#include "rounds.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

QEMU_EXPORT int qemu_plugin_version = QEMU_PLUGIN_API;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
				    char **arguments);

struct rounds rounds;

static uint64_t begin, end;
static struct range vmm;

static const struct option common[] = {
	{ .name = "begin=", .number = &begin },
	{ .name = "end=", .number = &end },
	{ .name = "label=", .number = &rounds.label },
	{ .name = "vmm=", .range = &vmm },
	{ .name = NULL },
};

void rounds_step(uint32_t linear)
{
	if (rounds.length == ROUNDS_PATH)
		fail("an operation is too long");
	rounds.path[rounds.length++] = linear;
}

static qemu_exec_callback *callback_at(uint64_t linear)
{
	if (linear == begin)
		return plugin_begin;
	if (linear == end)
		return plugin_end;
	return linear >= vmm.low && linear < vmm.high ? plugin_instruction : plugin_other(linear);
}

static void on_translation(qemu_plugin_id id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);

	(void)id;
	if (plugin_vcpus > 1 && count != 1)
		fail("a block has several instructions; -singlestep is needed");
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uint64_t linear = qemu_plugin_insn_vaddr(instruction);
		qemu_exec_callback *call = callback_at(linear);

		if (call)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, call,
							       QEMU_CALLBACK_NO_REGISTERS,
							       (void *)(uintptr_t)linear);
	}
}

static void on_exit_of_qemu(qemu_plugin_id id, void *unused)
{
	(void)id;
	(void)unused;
	plugin_finish();
	if (fclose(rounds.output) != 0)
		fail("the output cannot be written");
}

static void option_read(const struct option *option, const char *value)
{
	unsigned place = 0;

	if (option->times) {
		if (*option->times == option->most)
			fail("an option comes too often");
		place = (*option->times)++;
	}
	if (option->number)
		option->number[place] = argument_number(value);
	else
		option->range[place] = argument_range(value);
}

/* Reads an option if it is one of these. */
static bool option_find(const struct option *option, const char *argument)
{
	for (; option->name; option++) {
		size_t size = strlen(option->name);

		if (strncmp(argument, option->name, size) != 0)
			continue;
		option_read(option, argument + size);
		return true;
	}
	return false;
}

static void parse(const char *argument)
{
	if (strncmp(argument, "out=", 4) == 0)
		rounds.output = fopen(argument + 4, "w");
	else if (!option_find(common, argument) && !option_find(plugin_options, argument))
		fail("there is no such option");
}

int qemu_plugin_install(qemu_plugin_id id, const struct qemu_info *info, int count,
			char **arguments)
{
	if (!info->is_system || strcmp(info->target, "i386") != 0 || info->vcpus != plugin_vcpus)
		fail("this is for qemu-system-i386 with as many CPUs as its guest has");
	for (int i = 0; i < count; i++)
		parse(arguments[i]);
	if (!rounds.output)
		fail("out= is needed");
	rounds.path = malloc(ROUNDS_PATH * sizeof(*rounds.path));
	if (!rounds.path)
		fail("there is no memory");
	plugin_start();
	qemu_plugin_register_vcpu_init_cb(id, plugin_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
