/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands that every RTOS's demo has. They measure afresh, take the CPU away from Linux, and
 * test floating point.
 */
#include "commands.h"

#include <string.h>

#include "cpu.h"
#include "demo.h"
#include "terminal.h"

/* `spin` holds the CPU for so many seconds at most. */
#define SPIN_MAXIMUM 60

void command_help(const char *argument)
{
	(void)argument;
	for (const struct command *command = commands; command->name; command++)
		terminal_print("%s %s: %s", command->name, command->argument, command->text);
}

void command_reset(const char *argument)
{
	(void)argument;
	measurement_reset();
	terminal_print("reset: the figures begin anew");
}

/* Returns the number of seconds that the text gives, or 0 if it gives none in range. */
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

void command_spin(const char *argument)
{
	uint32_t seconds = seconds_parse(argument);
	uint64_t ticks = (uint64_t)os_time_stamp_khz() * 1000 * seconds;
	uint64_t start;

	if (!seconds) {
		terminal_print("spin: give the seconds, 1 to %u", SPIN_MAXIMUM);
		return;
	}
	terminal_print("spin: holds the CPU for %u s", seconds);
	os_interrupts_disable();
	start = time_stamp();
	while (time_stamp() - start < ticks)
		cpu_hold();
	os_interrupts_enable();
	terminal_print("spin: done");
}

void command_hang(const char *argument)
{
	(void)argument;
	terminal_print("hang: holds the CPU for ever");
	os_interrupts_disable();
	for (;;)
		cpu_hold();
}

void command_float(const char *argument)
{
	if (!strcmp(argument, "on"))
		float_task_run(true);
	else if (!strcmp(argument, "off"))
		float_task_run(false);
	else
		terminal_print("float: say on or off");
}

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
