/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of gandalfctl, which manages the guests beside this Linux. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "device.h"
#include "guest.h"

/* The exit status if the command line is wrong. */
#define USAGE 2
/* The longest time that can be given is an hour. */
#define MILLISECONDS_MAXIMUM 3600000

enum operands { NOTHING, GUEST, GUEST_OPTIONAL, GUEST_AND_IMAGE, GUEST_VCPU_CPU,
		GUEST_AND_POLICY, CPUS };

static const struct command {
	const char *name, *operands;
	enum operands takes;
	unsigned options;
	int (*run)(const struct arguments *arguments);
	const char *text;
} commands[] = {
	{"list", "", NOTHING, OPTION_JSON | OPTION_OVER, command_list,
	 "the guests, and what they are doing"},
	{"start", " NAME", GUEST, OPTION_JSON, command_start, "load and start a guest that is off"},
	{"stop", " NAME", GUEST, OPTION_JSON, command_stop, "switch a guest off"},
	{"restart", " NAME", GUEST, OPTION_JSON, command_restart, "both; also one that is off"},
	{"pause", " NAME", GUEST, OPTION_JSON, command_pause, "keep a guest from running"},
	{"resume", " NAME", GUEST, OPTION_JSON, command_resume, "let it go on"},
	{"move", " NAME VCPU CPU", GUEST_VCPU_CPU, OPTION_JSON, command_move,
	 "have a vCPU go on on another CPU"},
	{"gather", " CPUS", CPUS, OPTION_JSON, command_gather,
	 "put all vCPUs that move on the first CPUs, so many, and so spread them, too"},
	{"policy", " NAME [POLICY]", GUEST_AND_POLICY, OPTION_JSON, command_policy,
	 "when an RTOS takes its CPU a vCPU waits (none) or goes on elsewhere (on-demand, pull), "
	 "or the RTOS waits for its locks (delayed); or its kernel never runs there (trap)"},
	{"load", " NAME IMAGE", GUEST_AND_IMAGE, OPTION_JSON, command_load,
	 "give an RTOS that is off another image, an ELF file"},
	{"console", " NAME", GUEST, OPTION_JSON, command_console,
	 "connect with a guest's console; Ctrl-] leaves"},
	{"stats", " NAME", GUEST, OPTION_JSON, command_stats, "a guest's counters"},
	{"log", "", NOTHING, OPTION_JSON | OPTION_FOLLOW, command_log, "the VMM's log"},
	{"trace", " [NAME]", GUEST_OPTIONAL, OPTION_JSON, command_trace,
	 "what the VMM did last, for all guests or one"},
	{"report", " NAME", GUEST, OPTION_JSON, command_report,
	 "why the VMM stopped a guest last"},
	{"alive", "", NOTHING, OPTION_EVERY, command_alive,
	 "tell the VMM's watchdog that this Linux lives"},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{"follow", 'f', NULL, 0, "log: go on with what comes", 0},
	{"every", 'e', "MS", 0, "alive: again and again after so many milliseconds", 0},
	{"over", 'o', "MS", 0,
	 "list: measure the share of the CPU for so many milliseconds, and not since the machine "
	 "was switched on", 0},
	{0},
};

struct parsed {
	const struct command *command;
	struct arguments arguments;
	unsigned operands;
};

static const struct command *command_find(const char *name)
{
	for (unsigned i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* Returns the first of the options that were given. */
static const char *option_name(unsigned given)
{
	if (given & OPTION_JSON)
		return "--json";
	if (given & OPTION_FOLLOW)
		return "--follow";
	return given & OPTION_EVERY ? "--every" : "--over";
}

/* Ends the program unless the text is a number from least to most, which are what it says. */
static uint32_t number(struct argp_state *state, const char *text, unsigned least, unsigned most,
		       const char *what)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		argp_error(state, "%s: give %s, %u to %u", text, what, least, most);
	return (uint32_t)value;
}

static uint32_t milliseconds(struct argp_state *state, const char *text)
{
	return number(state, text, 1, MILLISECONDS_MAXIMUM, "milliseconds");
}

static uint32_t place(struct argp_state *state, const char *text)
{
	return number(state, text, 0, GANDALF_CPUS_MAXIMUM - 1, "the number of a vCPU or CPU");
}

static uint32_t count(struct argp_state *state, const char *text)
{
	return number(state, text, 1, GANDALF_CPUS_MAXIMUM, "how many CPUs");
}

static void operand_take(struct parsed *parsed, char *text, struct argp_state *state)
{
	switch (parsed->operands++) {
	case 0:
		parsed->command = command_find(text);
		if (!parsed->command)
			argp_error(state, "%s: there is no such command", text);
		break;
	case 1:
		if (parsed->command->takes == CPUS)
			parsed->arguments.cpu = count(state, text);
		else
			parsed->arguments.guest = text;
		break;
	case 2:
		if (parsed->command->takes == GUEST_VCPU_CPU)
			parsed->arguments.vcpu = place(state, text);
		else if (parsed->command->takes == GUEST_AND_POLICY)
			parsed->arguments.policy = text;
		else
			parsed->arguments.image = text;
		break;
	case 3:
		if (parsed->command->takes == GUEST_VCPU_CPU) {
			parsed->arguments.cpu = place(state, text);
			break;
		} /* fall through */
	default:
		argp_error(state, "%s: that is one operand too many", text);
	}
}

/* Ends the program unless the operands and the options are what the command takes. */
static void check(const struct parsed *parsed, struct argp_state *state)
{
	static const struct {
		unsigned least, most;
	} numbers[] = {[NOTHING] = {0, 0}, [GUEST] = {1, 1}, [GUEST_OPTIONAL] = {0, 1},
		       [GUEST_AND_IMAGE] = {2, 2}, [GUEST_VCPU_CPU] = {3, 3},
		       [GUEST_AND_POLICY] = {1, 2}, [CPUS] = {1, 1}};
	const struct command *command = parsed->command;
	unsigned given;

	if (!command)
		argp_error(state, "give a command");
	given = parsed->operands - 1;
	if (given < numbers[command->takes].least || given > numbers[command->takes].most)
		argp_error(state, "say: %s%s", command->name, command->operands);
	if (parsed->arguments.options & ~command->options)
		argp_error(state, "%s does not take %s", command->name,
			   option_name(parsed->arguments.options & ~command->options));
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct parsed *parsed = state->input;
	struct arguments *arguments = &parsed->arguments;

	switch (key) {
	case 'j':
		arguments->options |= OPTION_JSON;
		return 0;
	case 'f':
		arguments->options |= OPTION_FOLLOW;
		return 0;
	case 'e':
		arguments->options |= OPTION_EVERY;
		arguments->every = milliseconds(state, text);
		return 0;
	case 'o':
		arguments->options |= OPTION_OVER;
		arguments->over = milliseconds(state, text);
		return 0;
	case ARGP_KEY_ARG:
		operand_take(parsed, text, state);
		return 0;
	case ARGP_KEY_END:
		check(parsed, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Adds the list of commands, and what the exit status means, to the end of --help. */
static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size;
	FILE *stream;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	stream = open_memstream(&help, &size);
	if (!stream)
		return (char *)text;
	fputs("Commands:\n", stream);
	for (unsigned i = 0; i < COMMANDS; i++)
		fprintf(stream, "  %s%-*s  %s\n", commands[i].name,
			(int)(18 - strlen(commands[i].name)), commands[i].operands,
			commands[i].text);
	fputs(text, stream);
	fclose(stream);
	return help;
}

static const struct argp argp = {
	options,
	parse,
	"COMMAND [NAME [IMAGE | VCPU CPU | POLICY] | CPUS]",
	"Manage the guests of Gandalf beside this Linux, which needs `control = true` in the "
	"description of the system.\v"
	"\nThe exit status is 0, 1 when something was refused or failed (a sentence on standard "
	"error says why), or 2 when the command line is wrong.",
	NULL,
	help_filter,
	NULL,
};

int main(int count, char **words)
{
	struct parsed parsed = {0};

	argp_err_exit_status = USAGE;
	if (argp_parse(&argp, count, words, 0, NULL, &parsed))
		return USAGE;
	if (!device_open())
		return 1;
	return parsed.command->run(&parsed.arguments);
}
