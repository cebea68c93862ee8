/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of gandalfctl, and what the command line says. */
#ifndef GANDALFCTL_COMMAND_H
#define GANDALFCTL_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* An option is a bit, so that a command can say which it takes. */
enum command_option {
	OPTION_JSON = 1,
	OPTION_FOLLOW = 2,
	OPTION_EVERY = 4,
	OPTION_OVER = 8,
};

struct arguments {
	const char *guest; /* is NULL if none was given */
	const char *image;
	const char *policy;   /* is NULL if none was given */
	uint32_t vcpu, cpu;   /* of move; cpu: of gather, how many */
	unsigned options;     /* the bits of those that were given */
	uint32_t every, over; /* in milliseconds */
};

/* Each returns the exit status, which is 0, or 1 after a sentence on standard error. */
int command_list(const struct arguments *arguments);
int command_start(const struct arguments *arguments);
int command_stop(const struct arguments *arguments);
int command_restart(const struct arguments *arguments);
int command_pause(const struct arguments *arguments);
int command_resume(const struct arguments *arguments);
int command_move(const struct arguments *arguments);
int command_gather(const struct arguments *arguments);
int command_policy(const struct arguments *arguments);
int command_load(const struct arguments *arguments);
int command_console(const struct arguments *arguments);
int command_stats(const struct arguments *arguments);
int command_log(const struct arguments *arguments);
int command_trace(const struct arguments *arguments);
int command_report(const struct arguments *arguments);
int command_alive(const struct arguments *arguments);

static inline bool json_wanted(const struct arguments *arguments)
{
	return arguments->options & OPTION_JSON;
}

#endif
