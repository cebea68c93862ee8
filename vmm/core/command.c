/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the VMM's command line, by which the user looks at guests, starts and stops them. It works
 * even while a guest holds the CPU: the UART's interrupt edits lines, and starts and stops guests.
 * The idle vCPU prints the answers, since that takes long. If it has not had the CPU when the next
 * line comes, the UART's interrupt prints them, in steps. If too many lines wait for an answer, the
 * oldest get none.
 */
#include "core/command.h"

#include "core/log.h"
#include "core/pool.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "lib/owner.h"
#include "lib/string.h"

enum { LINE_SIZE = 64, TRACE_LINES = 40, ANSWERS = 8 };

OF_CORE static char line[LINE_SIZE];
OF_CORE static u32 length;

/* The lines that wait for their answers. */
static struct question {
	char line[LINE_SIZE];
	const struct command *command; /* what the first word names; NULL: no command */
	struct vm *named;              /* whom the second word names; NULL: no guest */
	int result;                    /* what vm_act() returned, or 0 */
	const char *state;             /* the guest's, then, by name */
} questions[ANSWERS] OF_CORE;
/* How many lines have been entered, acted upon and answered so far. Modulo ANSWERS, each is the
 * place of the next line that this is to happen to. */
OF_CORE static u32 asked, acted, answered;
OF_CORE static struct question current; /* the one that is being answered */
OF_CORE static bool answering;

static const char counter_names[] =
#define X(name, text) #name "\0"
	GANDALF_COUNTER_LIST(X);
#undef X

static void command_help(struct vm *vm);

static void command_status(UNUSED struct vm *vm)
{
	u64 now = rdtsc();

	for (u32 i = 0; i < core.vm_count; i++) {
		const struct vm *each = &vms[i];

		log_line("%s: %s, priority %u, %u KiB, ran %llu ms, up %llu ms, %u restarts",
			 each->guest->name, vm_state_name(each), each->guest->priority,
			 each->guest->memory_size >> 10,
			 (unsigned long long)time_milliseconds(core_ran(each->vcpus)),
			 (unsigned long long)time_milliseconds(now - each->started),
			 each->vcpus->counters[COUNTER_restarts]);
	}
	log_line("pool: %u of %u frames free", pool_available, pool_frames);
}

static void command_counters(struct vm *vm)
{
	const char *name = counter_names;

	for (u32 i = 0; i < COUNTERS; i++, name = string_next(name))
		if (vm->vcpus->counters[i] != 0)
			log_line("%s: %s=%u", vm->guest->name, name, vm->vcpus->counters[i]);
	log_line("%s: end of counters", vm->guest->name);
}

static void command_trace(struct vm *vm)
{
	trace_log(vm->vcpus->trace, TRACE_LINES);
}

static void command_result(struct vm *vm)
{
	if (current.result == GANDALF_ERROR_STATE)
		log_line("guest %s is %s", vm->guest->name, current.state);
	else if (current.result == GANDALF_ERROR_IMAGE)
		log_line("the image of guest %s is not complete", vm->guest->name);
	else if (current.result == GANDALF_ERROR_BUSY)
		log_line("guest %s is busy; try again", vm->guest->name);
}

struct command {
	const char *name;
	void (*answer)(struct vm *vm);
	const char *help;
	bool needs_guest;
	u8 action; /* GANDALF_ACTION_... if answer is command_result */
};

static const struct command commands[] = {
	{"help", command_help, "this list", false, 0},
	{"status", command_status, "guests and memory", false, 0},
	{"counters", command_counters, "what the VMM did for a guest", true, 0},
	{"trace", command_trace, "its last events", true, 0},
	{"start", command_result, "loads and starts a guest", true, GANDALF_ACTION_START},
	{"stop", command_result, "switches a guest off", true, GANDALF_ACTION_STOP},
	{"restart", command_result, "both", true, GANDALF_ACTION_RESTART},
	{"pause", command_result, "keeps a guest from the CPU", true, GANDALF_ACTION_PAUSE},
	{"resume", command_result, "ends that", true, GANDALF_ACTION_RESUME},
};

static void command_help(UNUSED struct vm *vm)
{
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++)
		log_line("%s%s: %s", commands[i].name, commands[i].needs_guest ? " GUEST" : "",
			 commands[i].help);
}

/* Ends the first word with a 0 byte and returns the second one. */
static char *command_argument(char *at)
{
	while (*at != '\0' && *at != ' ')
		at++;
	while (*at == ' ')
		*at++ = '\0';
	return at;
}

static const struct command *command_find(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++)
		if (string_equals(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* Puts the line that was entered among the questions. If there is no room, the oldest is given
 * up. */
static void command_ask(void)
{
	struct question *question = &questions[asked % ANSWERS];

	if (length == 0)
		return;
	if (++asked - answered > ANSWERS)
		answered++;
	memcpy(question->line, line, length + 1);
	question->command = NULL;
	question->result = 0;
}

/* Does what the entered lines ask for, with a pause in front of each. */
static void questions_act(void)
{
	while (acted != asked) {
		u32 place = acted;
		struct question *question = &questions[place % ANSWERS];
		const char *argument = command_argument(question->line);
		const struct command *command = command_find(question->line);

		question->command = command;
		question->named = vm_find(argument);
		work_admit(command_input);
		if (acted != place)
			continue; /* on another stack, since this vCPU has lost the core */
		acted++;
		if (command != NULL && command->answer == command_result &&
		    question->named != NULL) {
			question->result = vm_act(question->named, command->action);
			question->state = vm_state_name(question->named);
		}
		schedule_housekeeping(HOUSEKEEPING_COMMAND);
	}
}

static void question_answer(void)
{
	if (current.command == NULL)
		log_line("no such command; help lists them");
	else if (current.command->needs_guest && current.named == NULL)
		log_line("%s needs the name of a guest; status lists them", current.command->name);
	else
		current.command->answer(current.named);
}

static void questions_answer(u32 until)
{
	answering = true;
	while ((s32)(until - answered) > 0) {
		current = questions[answered++ % ANSWERS];
		question_answer();
	}
	answering = false;
}

void command_answer(void)
{
	command_input();
	questions_answer(acted);
}

/* Prints answers at the UART's interrupt, with pauses. The interrupt may come again in such a
 * pause, and does not answer then. Nor does it while the idle vCPU runs, since that answers
 * itself. */
static void questions_answer_here(u32 until)
{
	if (answering || core.current == &idle_vcpu || core.current->state != VCPU_RUNNING)
		return;
	log_pauses = true;
	questions_answer(until);
	log_pauses = false;
}

/* Adds a typed character to the line and shows it. Returns whether the line is complete. */
static bool edit(char character)
{
	if (character == '\r' || character == '\n') {
		log_text("\r\n");
		line[length] = '\0';
		command_ask();
		length = 0;
		return true;
	}
	if ((character == '\b' || character == 0x7f) && length != 0) {
		length--;
		log_text("\b \b");
	} else if (character >= ' ' && length < LINE_SIZE - 1) {
		line[length++] = character;
		log_text("%s", (char[]){character, '\0'});
	}
	return false;
}

void command_input(void)
{
	bool pauses = log_pauses;
	int character;

	log_pauses = false; /* a pause could show the next character before this one */
	while (core.current->state == VCPU_RUNNING &&
	       (character = console_get(log_console)) >= 0) {
		u32 earlier = acted;
		bool entered = edit((char)character);

		work_admit(command_input);
		questions_act();
		work_admit(command_input);
		if (entered)
			questions_answer_here(earlier);
	}
	if (console_has_input(log_console)) /* a command has taken down whose stack this is */
		schedule_housekeeping(HOUSEKEEPING_COMMAND);
	log_pauses = pauses;
}
