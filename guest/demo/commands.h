/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be typed on the demo's console. Every RTOS's demo has a table of its own. The commands
 * that all have are here.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

struct command {
	const char *name;
	const char *argument;
	const char *text;
	void (*execute)(const char *argument);
};

/* The demo's table, which ends with an entry whose name is NULL. */
extern const struct command commands[];

/* Every table begins with these entries. */
#define COMMANDS_COMMON \
	{ "help", "", "lists the commands", command_help }, \
	{ "reset", "", "begins the figures anew", command_reset }, \
	{ "spin", "SECONDS", "holds the CPU, interrupts disabled", command_spin }, \
	{ "hang", "", "holds the CPU for ever", command_hang }, \
	{ "float", "on|off", "checks floating point across task and guest switches", \
	  command_float }

void command_help(const char *argument);
void command_reset(const char *argument);
void command_spin(const char *argument);
void command_hang(const char *argument);
void command_float(const char *argument);

/* Executes one line and prints its answer. It changes the line. */
void command_execute(char *line);

#endif
