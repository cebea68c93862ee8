/* SPDX-License-Identifier: Apache-2.0 */
/* The command policy, which says what is done when an RTOS takes a CPU from a vCPU of Linux. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"

static const char *const names[GANDALF_PREEMPTION_POLICIES] = {
	[GANDALF_PREEMPTION_NONE] = "none",
	[GANDALF_PREEMPTION_ON_DEMAND] = "on-demand",
	[GANDALF_PREEMPTION_PULL] = "pull",
	[GANDALF_PREEMPTION_DELAYED] = "delayed",
	[GANDALF_PREEMPTION_TRAP] = "trap",
};

/* Returns GANDALF_PREEMPTION_POLICIES if there is none of that name. */
static uint32_t policy_find(const char *name)
{
	uint32_t policy = 0;

	while (policy < GANDALF_PREEMPTION_POLICIES && strcmp(names[policy], name))
		policy++;
	return policy;
}

static const char *policy_name(long policy)
{
	return policy < GANDALF_PREEMPTION_POLICIES ? names[policy] : "unknown";
}

static void show(const struct arguments *arguments, const struct guest *guest, long policy)
{
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_string("guest", guest->status.name);
		json_string("policy", policy_name(policy));
		json_end();
	} else if (!arguments->policy) {
		puts(policy_name(policy));
	}
}

int command_policy(const struct arguments *arguments)
{
	uint32_t wanted = GANDALF_PREEMPTION_ASK;
	struct guest guest;
	long result;

	if (arguments->policy) {
		wanted = policy_find(arguments->policy);
		if (wanted == GANDALF_PREEMPTION_POLICIES)
			return fail("there is no policy %s; there are none, on-demand, "
				    "pull, delayed and trap", arguments->policy);
	}
	if (!guest_find(arguments->guest, &guest, NULL))
		return 1;
	result = guest_policy(&guest, wanted);
	if (result == GANDALF_ERROR_ARGUMENT && guest_policy(&guest, GANDALF_PREEMPTION_ASK) >= 0)
		return fail("this image of the VMM has no policy %s", arguments->policy);
	if (result == GANDALF_ERROR_ARGUMENT)
		return fail("guest %s has no policy: its description has no `migrate = true`",
			    arguments->guest);
	if (result < 0)
		return refused(result);
	show(arguments, &guest, result);
	return 0;
}
