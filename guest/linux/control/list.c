/* SPDX-License-Identifier: Apache-2.0 */
/* The command list, which shows the guests and how many of the VMM's frames are free, by CPU. */
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "fail.h"
#include "guest.h"
#include "json.h"

/* Has all guests as they were at one time. */
struct snapshot {
	struct gandalf_system_status system;
	struct guest guests[GANDALF_GUESTS_MAXIMUM];
	struct gandalf_core_status cpus[GANDALF_CPUS_MAXIMUM];
};

static const char *const cpu_states[] = {
	[GANDALF_CORE_ABSENT] = "absent",
	[GANDALF_CORE_RUNS] = "runs",
	[GANDALF_CORE_STOPPED] = "stopped",
};

/* Has when the time began of which shares of the CPU are parts, and what each guest had run
 * then. */
struct since {
	uint64_t start;
	uint64_t ran[GANDALF_GUESTS_MAXIMUM];
};

static bool snapshot_take(struct snapshot *now)
{
	if (!system_read(&now->system))
		return false;
	if (now->system.guest_count > GANDALF_GUESTS_MAXIMUM)
		return !fail("the VMM has %u guests, and this command knows of %u at most",
			     now->system.guest_count, GANDALF_GUESTS_MAXIMUM);
	for (uint32_t place = 0; place < now->system.guest_count; place++)
		if (!guest_read(place, &now->guests[place]))
			return false;
	for (uint32_t cpu = 0; cpu < cpus_of(&now->system); cpu++)
		if (!cpu_read(&now->system, cpu, &now->cpus[cpu]))
			return false;
	return true;
}

static double share(const struct snapshot *now, const struct since *since, uint32_t place)
{
	uint64_t passed = now->system.now - since->start;
	uint64_t ran = now->guests[place].status.ran - since->ran[place];

	return passed ? (double)ran / (double)passed : 0;
}

static uint64_t milliseconds(const struct snapshot *now, uint64_t ticks)
{
	return now->system.tsc_khz ? ticks / now->system.tsc_khz : 0;
}

/* Returns the time since the start of a guest that lives, or 0. */
static uint64_t uptime(const struct snapshot *now, const struct guest *guest)
{
	uint64_t started = guest->status.started;

	if (!guest_lives(guest) || !started || started > now->system.now)
		return 0;
	return milliseconds(now, now->system.now - started);
}

/* Shows where those vCPUs are that move. */
static void show_vcpus(const struct guest *guest)
{
	uint32_t cpu, moves;

	for (uint32_t number = 0; guest_vcpu(guest, number, &cpu, &moves); number++) {
		long waited = guest_ticks(guest, number, GANDALF_TICKS_WAITED);
		long spins = guest_ticks(guest, number, GANDALF_TICKS_SPINS);

		printf("  vCPU %u: CPU %u, moved %u times, waited %ld ms for RTOSes, "
		       "spun for long %ld times\n",
		       number, cpu, moves, waited < 0 ? 0 : waited, spins < 0 ? 0 : spins);
	}
}

static void show_line(const struct snapshot *now, const struct since *since, uint32_t place)
{
	const struct guest *guest = &now->guests[place];
	uint64_t up = uptime(now, guest);
	char text[32] = "-";

	if (guest_lives(guest))
		snprintf(text, sizeof(text), "%llu.%03u s", (unsigned long long)(up / 1000),
			 (unsigned)(up % 1000));
	printf("%-15s %-5s %-8s %8u %7u KiB %6.2f%% %12s %8u", guest->status.name,
	       guest_kind_name(guest), guest_state_name(guest), guest->status.priority,
	       guest->status.memory_size / 1024, 100 * share(now, since, place), text,
	       guest->status.restarts);
	if (guest->status.state == GANDALF_STATE_STOPPED)
		printf("  %s", guest->status.reason);
	putchar('\n');
	show_vcpus(guest);
}

static const char *cpu_state_name(const struct gandalf_core_status *cpu)
{
	return cpu->state < sizeof(cpu_states) / sizeof(*cpu_states) ? cpu_states[cpu->state]
								     : "unknown";
}

/* Shows what the VMM has on a CPU, whose number precedes it where there are several. */
static void show_pool(const struct snapshot *now, uint32_t number)
{
	const struct gandalf_core_status *cpu = &now->cpus[number];
	char prefix[32] = "";

	if (cpus_of(&now->system) > 1)
		snprintf(prefix, sizeof(prefix), "CPU %u: ", number);
	if (cpu->state != GANDALF_CORE_RUNS) {
		printf("%sthe VMM is %s%s%s\n", prefix, cpu_state_name(cpu),
		       cpu->reason[0] ? ": " : "", cpu->reason);
		return;
	}
	printf("%spool: %u of %u frames free\n", prefix, cpu->pool_free, cpu->pool_frames);
	if (cpu->pool_free != cpu->pool_counted)
		printf("%spool: its list has %u free frames: a frame is lost\n", prefix,
		       cpu->pool_counted);
}

static void show_table(const struct snapshot *now, const struct since *since)
{
	const struct gandalf_system_status *system = &now->system;

	printf("%-15s %-5s %-8s %8s %11s %7s %12s %8s\n", "NAME", "KIND", "STATE", "PRIORITY",
	       "MEMORY", "CPU", "UPTIME", "RESTARTS");
	for (uint32_t place = 0; place < system->guest_count; place++)
		show_line(now, since, place);
	for (uint32_t cpu = 0; cpu < cpus_of(system); cpu++)
		show_pool(now, cpu);
}

static const char *const tick_names[GANDALF_TICKS_KINDS] = {
	[GANDALF_TICKS_LEAVE] = "leave_ticks",
	[GANDALF_TICKS_ARRIVE] = "arrive_ticks",
	[GANDALF_TICKS_SETTLE] = "settle_ticks",
	[GANDALF_TICKS_SPINS] = "spins",
	[GANDALF_TICKS_WAITED] = "waited_ms",
};

static void show_ticks(const struct guest *guest, uint32_t number)
{
	for (uint32_t kind = 0; kind < GANDALF_TICKS_KINDS; kind++) {
		long ticks = guest_ticks(guest, number, kind);

		json_number(tick_names[kind], ticks < 0 ? 0 : (uint64_t)ticks);
	}
}

static void show_vcpu_objects(const struct guest *guest)
{
	uint32_t cpu, moves;

	json_array("vcpus");
	for (uint32_t number = 0; guest_vcpu(guest, number, &cpu, &moves); number++) {
		json_object(NULL);
		json_number("cpu", cpu);
		json_number("moves", moves);
		show_ticks(guest, number);
		json_end();
	}
	json_end();
}

static void show_object(const struct snapshot *now, const struct since *since, uint32_t place)
{
	const struct gandalf_guest_status *status = &now->guests[place].status;

	json_object(NULL);
	json_string("name", status->name);
	json_string("kind", guest_kind_name(&now->guests[place]));
	json_string("state", guest_state_name(&now->guests[place]));
	json_number("priority", status->priority);
	json_number("memory_bytes", status->memory_size);
	json_fraction("cpu_share", share(now, since, place));
	json_number("ran_ms", milliseconds(now, status->ran));
	json_number("uptime_ms", uptime(now, &now->guests[place]));
	json_number("restarts", status->restarts);
	json_number("fault_restarts", status->fault_restarts);
	json_number("image_room", status->image_room);
	json_number("watchdog_ms", status->watchdog_ms);
	json_truth("control", status->flags & GANDALF_GUEST_CONTROL);
	json_truth("self", place == now->system.place);
	json_string("reason", status->reason);
	show_vcpu_objects(&now->guests[place]);
	json_end();
}

static void show_pool_object(const struct gandalf_core_status *cpu)
{
	json_object("pool");
	json_number("frames", cpu->pool_frames);
	json_number("free", cpu->pool_free);
	json_number("counted", cpu->pool_counted);
	json_end();
}

static void show_json(const struct snapshot *now, const struct since *since)
{
	json_object(NULL);
	json_number("uptime_ms", milliseconds(now, now->system.now));
	show_pool_object(&now->cpus[0]);
	json_array("cpus");
	for (uint32_t cpu = 0; cpu < cpus_of(&now->system); cpu++) {
		json_object(NULL);
		json_string("state", cpu_state_name(&now->cpus[cpu]));
		json_string("reason", now->cpus[cpu].reason);
		show_pool_object(&now->cpus[cpu]);
		json_end();
	}
	json_end();
	json_array("guests");
	for (uint32_t place = 0; place < now->system.guest_count; place++)
		show_object(now, since, place);
	json_end();
	json_end();
}

/* Lets time pass with --over. Without it all time counts since the machine was switched on. */
static bool since_begin(const struct arguments *arguments, struct snapshot *now,
			struct since *since)
{
	*since = (struct since){0};
	if (!(arguments->options & OPTION_OVER))
		return true;
	if (!snapshot_take(now))
		return false;
	since->start = now->system.now;
	for (uint32_t place = 0; place < now->system.guest_count; place++)
		since->ran[place] = now->guests[place].status.ran;
	usleep(arguments->over * 1000);
	return true;
}

int command_list(const struct arguments *arguments)
{
	struct snapshot now;
	struct since since;

	if (!since_begin(arguments, &now, &since) || !snapshot_take(&now))
		return 1;
	if (json_wanted(arguments))
		show_json(&now, &since);
	else
		show_table(&now, &since);
	return 0;
}
