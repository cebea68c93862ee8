/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's commands, a table: measure afresh, take the CPU away from Linux,
 * test floating point, and go wrong in every way that the VMM must survive.
 */
#include "commands.h"

#include <string.h>

#include "FreeRTOS.h"
#include "demo.h"
#include "misdeed.h"
#include "task.h"
#include "terminal.h"

/* The longest time for which `spin` holds the CPU, in seconds. */
#define SPIN_MAXIMUM 60

struct command {
	const char *name;
	const char *argument;
	const char *text;
	void (*execute)(const char *argument);
};

static const struct command commands[];

static void command_help(const char *argument)
{
	(void)argument;
	for (const struct command *command = commands; command->name; command++)
		terminal_print("%s %s: %s", command->name, command->argument, command->text);
}

static void command_reset(const char *argument)
{
	(void)argument;
	measurement_reset();
	terminal_print("reset: the figures begin anew");
}

/* The number of seconds that the text gives, 0 if it gives none in range. */
static uint32_t seconds_parse(const char *text)
{
	uint32_t seconds = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		seconds = seconds * 10 + (uint32_t)(*text - '0');
		if (seconds > SPIN_MAXIMUM)
			return 0;
	}
	return seconds;
}

static void command_spin(const char *argument)
{
	uint32_t seconds = seconds_parse(argument);
	uint64_t ticks = (uint64_t)shared_page->tsc_khz * 1000 * seconds;
	uint64_t start;

	if (!seconds) {
		terminal_print("spin: give the seconds, 1 to %u", SPIN_MAXIMUM);
		return;
	}
	terminal_print("spin: holds the CPU for %u s", seconds);
	interrupt_disable();
	start = time_stamp();
	while (time_stamp() - start < ticks)
		cpu_hold();
	interrupt_enable();
	terminal_print("spin: done");
}

static void command_hang(const char *argument)
{
	(void)argument;
	terminal_print("hang: holds the CPU for ever");
	interrupt_disable();
	for (;;)
		cpu_hold();
}

static void command_float(const char *argument)
{
	if (!strcmp(argument, "on"))
		float_task_run(true);
	else if (!strcmp(argument, "off"))
		float_task_run(false);
	else
		terminal_print("float: say on or off");
}

static void crash_list(void)
{
	for (const struct misdeed *misdeed = misdeeds; misdeed->name; misdeed++)
		terminal_print("crash %s: %s", misdeed->name, misdeed->text);
}

static void command_crash(const char *argument)
{
	const struct misdeed *misdeed = misdeed_find(argument);

	if (!misdeed) {
		crash_list();
		return;
	}
	if (!misdeed_possible(misdeed)) {
		terminal_print("crash: QEMU does not enforce segment limits; try %s in Bochs",
			       misdeed->name);
		return;
	}
	terminal_print("crash: %s", misdeed->text);
	misdeed->commit();
	terminal_print("crash: %s was let pass", misdeed->name);
}

static const struct command commands[] = {
	{ "help", "", "lists the commands", command_help },
	{ "reset", "", "begins the figures anew", command_reset },
	{ "spin", "SECONDS", "holds the CPU, interrupts disabled", command_spin },
	{ "hang", "", "holds the CPU for ever", command_hang },
	{ "float", "on|off", "checks floating point across task and guest switches",
	  command_float },
	{ "crash", "KIND", "makes the VMM stop this guest; without KIND lists them",
	  command_crash },
	{ 0 },
};

void command_execute(char *line)
{
	char *argument = line;

	while (*argument && *argument != ' ')
		argument++;
	while (*argument == ' ')
		*argument++ = 0;
	if (!*line)
		return;
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(command->name, line)) {
			command->execute(argument);
			return;
		}
	terminal_print("%s: no such command; help lists them", line);
}
