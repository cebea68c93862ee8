/* SPDX-License-Identifier: Apache-2.0 */
/* The command move, which has a vCPU of a guest go on on another CPU. */
#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"

int move_refused(const struct guest *guest, uint32_t vcpu, uint32_t cpu, long error)
{
	const char *name = guest->status.name;

	switch (error) {
	case GANDALF_ERROR_ARGUMENT:
		return fail("vCPU %u of guest %s does not move to CPU %u: its description has no "
			    "`migrate = true`, or not that CPU, or it is the first",
			    vcpu, name, cpu);
	case GANDALF_ERROR_STATE:
		return fail("vCPU %u of guest %s does not run, or CPU %u does not",
			    vcpu, name, cpu);
	case GANDALF_ERROR_BUSY:
		return fail("vCPU %u of guest %s has not moved: an RTOS keeps a CPU",
			    vcpu, name);
	}
	return refused(error);
}

int command_move(const struct arguments *arguments)
{
	struct guest guest;
	long result;

	if (!guest_find(arguments->guest, &guest, NULL))
		return 1;
	result = guest_move(&guest, arguments->vcpu, arguments->cpu);
	if (result < 0)
		return move_refused(&guest, arguments->vcpu, arguments->cpu, result);
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_string("guest", guest.status.name);
		json_number("vcpu", arguments->vcpu);
		json_number("cpu", arguments->cpu);
		json_end();
	}
	return 0;
}
