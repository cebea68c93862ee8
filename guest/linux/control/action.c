/* SPDX-License-Identifier: Apache-2.0 */
/* The commands start, stop, restart, pause and resume. */
#include <errno.h>
#include <string.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"

struct verb {
	uint32_t action;
	const char *done;  /* the end of "can be ..." */
	const char *whose; /* says in which states that is so */
};

static int explain(const struct verb *verb, struct guest *guest, long error)
{
	const char *name = guest->status.name;

	switch (error) {
	case GANDALF_ERROR_STATE:
		if (!guest_read(guest->place, guest))
			return 1;
		return fail("guest %s is %s, and only one that is %s can be %s", name,
			    guest_state_name(guest), verb->whose, verb->done);
	case GANDALF_ERROR_IMAGE:
		return fail("guest %s has no complete image: load one", name);
	case GANDALF_ERROR_BUSY:
		return fail("the VMM still works for guest %s: an RTOS keeps the CPU", name);
	case GANDALF_ERROR_ARGUMENT:
		return fail("guest %s cannot be %s", name, verb->done);
	}
	return refused(error);
}

static int show(const struct arguments *arguments, const struct guest *guest)
{
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_string("guest", guest->status.name);
		json_string("state", guest_state_name(guest));
		json_end();
	}
	return 0;
}

static int act(const struct arguments *arguments, const struct verb *verb)
{
	struct guest guest;
	long result;

	if (!guest_find_other(arguments->guest, &guest))
		return 1;
	result = guest_act(&guest, verb->action);
	if (result < 0)
		return explain(verb, &guest, result);
	if (!guest_settle(&guest))
		return 1;
	if (guest.status.state == GANDALF_STATE_STOPPED && verb->action != GANDALF_ACTION_STOP)
		return fail("guest %s was stopped at once: %s", guest.status.name,
			    guest.status.reason);
	return show(arguments, &guest);
}

int command_start(const struct arguments *arguments)
{
	return act(arguments, &(struct verb){GANDALF_ACTION_START, "started", "off or stopped"});
}

int command_stop(const struct arguments *arguments)
{
	return act(arguments,
		   &(struct verb){GANDALF_ACTION_STOP, "stopped", "running, starting or paused"});
}

int command_restart(const struct arguments *arguments)
{
	return act(arguments, &(struct verb){GANDALF_ACTION_RESTART, "restarted", "not starting"});
}

int command_pause(const struct arguments *arguments)
{
	return act(arguments, &(struct verb){GANDALF_ACTION_PAUSE, "paused", "running"});
}

int command_resume(const struct arguments *arguments)
{
	return act(arguments, &(struct verb){GANDALF_ACTION_RESUME, "resumed", "paused"});
}
