/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the VMM about the machine and its guests, and repeats what it is too busy for. */
#include "guest.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

/* The VMM is asked again so often, after so many microseconds each time. */
#define TRIES 5000
#define PAUSE_US 1000

static const char *const states[] = {
	[GANDALF_STATE_OFF] = "off",
	[GANDALF_STATE_RUNNING] = "running",
	[GANDALF_STATE_STOPPED] = "stopped",
	[GANDALF_STATE_STARTING] = "starting",
	[GANDALF_STATE_PAUSED] = "paused",
};

int refused(long error)
{
	if (error == GANDALF_ERROR_PERMISSION)
		return fail("this Linux may not manage guests: its description lacks "
			    "`control = true`");
	if (error == GANDALF_ERROR_CPU)
		return fail("the VMM of that guest's CPU does not run: see `gandalfctl list`");
	return fail("the VMM refused: %s", strerror((int)-error));
}

bool object_read(uint32_t object, uint32_t place, void *to, uint32_t size)
{
	long result = device_read(object, place, 0, to, size);

	if (result == (long)size)
		return true;
	if (result < 0)
		refused(result);
	else
		fail("the VMM gave %ld of %u bytes: it is not of this command's version", result,
		     size);
	return false;
}

bool system_read(struct gandalf_system_status *status)
{
	if (!object_read(GANDALF_OBJECT_SYSTEM, NO_PLACE, status, sizeof(*status)))
		return false;
	if (status->abi_version == GANDALF_ABI_VERSION)
		return true;
	fail("the VMM's interface has version %u, and this command's %u", status->abi_version,
	     GANDALF_ABI_VERSION);
	return false;
}

uint32_t cpus_of(const struct gandalf_system_status *system)
{
	if (system->cores > GANDALF_CPUS_MAXIMUM)
		return GANDALF_CPUS_MAXIMUM;
	return system->cores ? system->cores : 1;
}

bool cpu_read(const struct gandalf_system_status *system, uint32_t cpu,
	      struct gandalf_core_status *status)
{
	if (system->cores) {
		if (!object_read(GANDALF_OBJECT_CORE, cpu, status, sizeof(*status)))
			return false;
		status->reason[sizeof(status->reason) - 1] = 0;
		return true;
	}
	*status = (struct gandalf_core_status){
		.state = GANDALF_CORE_RUNS,
		.pool_frames = system->pool_frames,
		.pool_free = system->pool_free,
		.pool_counted = system->pool_counted,
	};
	return true;
}

bool guest_read(uint32_t place, struct guest *guest)
{
	guest->place = place;
	if (!object_read(GANDALF_OBJECT_GUEST, place, &guest->status, sizeof(guest->status)))
		return false;
	guest->status.name[sizeof(guest->status.name) - 1] = 0;
	guest->status.reason[sizeof(guest->status.reason) - 1] = 0;
	return true;
}

bool guest_find(const char *name, struct guest *guest, struct gandalf_system_status *system)
{
	struct gandalf_system_status own;

	if (!system)
		system = &own;
	if (!system_read(system))
		return false;
	for (uint32_t place = 0; place < system->guest_count; place++) {
		if (!guest_read(place, guest))
			return false;
		if (!strcmp(guest->status.name, name))
			return true;
	}
	fail("there is no guest %s; `gandalfctl list` names them", name);
	return false;
}

bool guest_find_other(const char *name, struct guest *guest)
{
	struct gandalf_system_status system;

	if (!guest_find(name, guest, &system))
		return false;
	if (guest->place != system.place)
		return true;
	fail("guest %s is the one that this command runs in", name);
	return false;
}

const char *guest_state_name(const struct guest *guest)
{
	uint32_t state = guest->status.state;

	return state < sizeof(states) / sizeof(*states) ? states[state] : "unknown";
}

const char *guest_kind_name(const struct guest *guest)
{
	return guest->status.kind == GANDALF_KIND_RTOS ? "rtos" : "linux";
}

bool guest_lives(const struct guest *guest)
{
	return guest->status.state != GANDALF_STATE_OFF &&
	       guest->status.state != GANDALF_STATE_STOPPED;
}

bool guest_waits(unsigned *tries)
{
	usleep(PAUSE_US);
	return ++*tries < TRIES;
}

bool guest_keep(const struct guest *guest)
{
	unsigned tries = 0;

	while (!device_keep(guest->place))
		if (!guest_waits(&tries))
			return false;
	return true;
}

static long repeat(const struct guest *guest, uint32_t action, uint32_t size, uint32_t entry,
		   uint32_t crc)
{
	unsigned tries = 0;
	long result;

	if (!guest_keep(guest))
		return GANDALF_ERROR_BUSY;
	do
		result = device_act(action, guest->place, size, entry, crc);
	while (result == GANDALF_ERROR_BUSY && guest_waits(&tries));
	return result;
}

/* The number of this request: a program that was killed may have left one of its own. */
long guest_act(const struct guest *guest, uint32_t action)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return repeat(guest, action, (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 16, 0, 0);
}

long guest_load(const struct guest *guest, uint32_t size, uint32_t entry, uint32_t crc)
{
	return repeat(guest, GANDALF_ACTION_LOAD, size, entry, crc);
}

long guest_move(const struct guest *guest, uint32_t vcpu, uint32_t cpu)
{
	return repeat(guest, GANDALF_ACTION_MOVE, vcpu, cpu, 0);
}

long guest_policy(const struct guest *guest, uint32_t policy)
{
	return repeat(guest, GANDALF_ACTION_POLICY, policy, 0, 0);
}

bool guest_vcpu(const struct guest *guest, uint32_t number, uint32_t *cpu, uint32_t *moves)
{
	long result;

	if (!(guest->status.flags & GANDALF_GUEST_MIGRATES))
		return false;
	result = device_act(GANDALF_ACTION_WHERE, guest->place, number, 0, 0);
	if (result < 0)
		return false;
	*cpu = (uint32_t)result & 0xff;
	*moves = (uint32_t)result >> 8;
	return true;
}

long guest_ticks(const struct guest *guest, uint32_t number, uint32_t kind)
{
	return device_act(GANDALF_ACTION_TICKS, guest->place, number, kind, 0);
}

bool guest_settle(struct guest *guest)
{
	unsigned tries = 0;

	do
		if (!guest_read(guest->place, guest))
			return false;
	while (guest->status.state == GANDALF_STATE_STARTING && guest_waits(&tries));
	return true;
}
