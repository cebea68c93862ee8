/* SPDX-License-Identifier: Apache-2.0 */
/* The command trace, which shows what the VMM did last for all guests or for one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "guest.h"
#include "json.h"

#define EVENTS GANDALF_TRACE_EVENTS
#define IDLE 0xffff

/* How often a ring is read at most, and how many events it may lose meanwhile without being read
 * once more, so that a thousand are left. A system that makes more than that all the time still
 * shows what was left. */
#define READINGS 8
#define LOST_AT_MOST (EVENTS - 1000)

/* Has the types of events. text says what the two numbers of one are, with a comma between. */
static const struct {
	const char *name, *text;
} types[] = {
#define X(name, text) {#name, text},
	GANDALF_TRACE_LIST(X)
#undef X
};

/* The rings of a CPU: one of each guest, and the VMM's own. */
#define RINGS (GANDALF_GUESTS_MAXIMUM + 1)

/* Has an event, the CPU that recorded it, and its place in its ring. */
struct entry {
	struct gandalf_trace_event event;
	uint32_t cpu, number;
};

/* Has the events of all rings, and the names of the guests by their places. */
struct recording {
	struct entry entries[GANDALF_CPUS_MAXIMUM * RINGS * EVENTS];
	uint32_t count, cpus, tsc_khz;
	char names[GANDALF_GUESTS_MAXIMUM][GANDALF_NAME_SIZE];
};

static bool names_read(struct recording *recording, uint32_t count)
{
	struct guest guest;

	for (uint32_t place = 0; place < count && place < GANDALF_GUESTS_MAXIMUM; place++) {
		if (!guest_read(place, &guest))
			return false;
		memcpy(recording->names[place], guest.status.name, GANDALF_NAME_SIZE);
	}
	return true;
}

/* The place of an object that is a ring (control.h). */
static uint32_t ring_place(uint32_t cpu, uint32_t guest)
{
	return guest | cpu << (GANDALF_TRACE_CPU_SHIFT - GANDALF_PLACE_SHIFT);
}

/* Reads how many events a ring has been given: none if the guest has no vCPU there. */
static bool next_read(uint32_t place, uint32_t *next)
{
	long result = device_read(GANDALF_OBJECT_TRACE, place, 0, next, sizeof(*next));

	if (!result)
		*next = 0;
	if (result < 0)
		refused(result);
	return result >= 0;
}

/* Reads a ring, and how many events it had been given before and after that. */
static bool ring_read(struct gandalf_trace_ring *ring, uint32_t place, uint32_t *end,
		      uint32_t *later)
{
	if (!next_read(place, end))
		return false;
	*later = *end;
	return !*end || (object_read(GANDALF_OBJECT_TRACE, place, ring, sizeof(*ring)) &&
			 next_read(place, later));
}

/* Adds the events of a ring. To read makes events, too; those that the ring lost meanwhile are left
 * out. They may be many where Linux had other programs run during the reading, which is then done
 * again. */
static bool ring_add(struct recording *recording, uint32_t cpu, uint32_t guest)
{
	static struct gandalf_trace_ring ring;
	uint32_t end, later, readings = 0;

	do {
		if (!ring_read(&ring, ring_place(cpu, guest), &end, &later))
			return false;
	} while (later > EVENTS && later - end > LOST_AT_MOST && ++readings < READINGS);
	for (uint32_t number = later > EVENTS ? later - EVENTS : 0; (int32_t)(end - number) > 0;
	     number++)
		recording->entries[recording->count++] =
			(struct entry){ring.events[number % EVENTS], cpu, number};
	return true;
}

/* Reads the ring of one guest on a CPU, or with UINT32_MAX those of all and the VMM's. A CPU that
 * is absent has recorded nothing. */
static bool rings_add(struct recording *recording, const struct gandalf_system_status *system,
		      uint32_t cpu, uint32_t guest)
{
	struct gandalf_core_status status;

	if (!cpu_read(system, cpu, &status))
		return false;
	if (status.state == GANDALF_CORE_ABSENT)
		return true;
	if (guest != UINT32_MAX)
		return ring_add(recording, cpu, guest);
	for (uint32_t place = 0; place < system->guest_count; place++)
		if (!ring_add(recording, cpu, place))
			return false;
	return ring_add(recording, cpu, GANDALF_PLACE_VMM);
}

/*
 * Puts the entries in the order of time. A ring has them in the order in which they got their
 * places, and an interrupt may come between an event's place and its time stamp. CPUs have one time
 * base. Events of a ring that have the same time keep their order.
 */
static int compare_times(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;

	if (left->event.time != right->event.time)
		return left->event.time < right->event.time ? -1 : 1;
	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	if (left->event.vcpu != right->event.vcpu)
		return left->event.vcpu < right->event.vcpu ? -1 : 1;
	return (int32_t)(left->number - right->number);
}

static bool recording_read(struct recording *recording, uint32_t guest)
{
	struct gandalf_system_status system;

	if (!system_read(&system) || !names_read(recording, system.guest_count))
		return false;
	recording->tsc_khz = system.tsc_khz;
	recording->cpus = cpus_of(&system);
	for (uint32_t cpu = 0; cpu < recording->cpus; cpu++)
		if (!rings_add(recording, &system, cpu, guest))
			return false;
	qsort(recording->entries, recording->count, sizeof(*recording->entries), compare_times);
	return true;
}

static const char *vcpu_name(const struct recording *recording, uint32_t vcpu)
{
	return vcpu < GANDALF_GUESTS_MAXIMUM ? recording->names[vcpu] : "idle";
}

static uint64_t microseconds(const struct recording *recording, uint64_t ticks)
{
	return recording->tsc_khz ? ticks * 1000 / recording->tsc_khz : 0;
}

static void show_text(const struct recording *recording, const struct entry *entry)
{
	const struct gandalf_trace_event *event = &entry->event;
	const char *text = types[event->type].text;
	const char *comma = strchr(text, ',');

	if (recording->cpus > 1)
		printf("CPU %u: ", entry->cpu);
	printf("%" PRIu64 " us, %s: %s: %.*s %#x,%s %#x\n", microseconds(recording, event->time),
	       vcpu_name(recording, event->vcpu), types[event->type].name, (int)(comma - text),
	       text, event->first, comma + 1, event->second);
}

static void show_json(const struct recording *recording, const struct entry *entry)
{
	const struct gandalf_trace_event *event = &entry->event;

	json_object(NULL);
	json_number("time_us", microseconds(recording, event->time));
	json_number("cpu", entry->cpu);
	if (event->vcpu == IDLE)
		json_null("guest");
	else
		json_string("guest", vcpu_name(recording, event->vcpu));
	json_string("event", types[event->type].name);
	json_number("first", event->first);
	json_number("second", event->second);
	json_end();
}

static void show(const struct recording *recording, bool json)
{
	for (uint32_t i = 0; i < recording->count; i++) {
		const struct entry *entry = &recording->entries[i];

		if (entry->event.type >= sizeof(types) / sizeof(*types))
			continue;
		if (json)
			show_json(recording, entry);
		else
			show_text(recording, entry);
	}
}

int command_trace(const struct arguments *arguments)
{
	static struct recording recording;
	struct guest guest = {.place = UINT32_MAX};

	if (arguments->guest && !guest_find(arguments->guest, &guest, NULL))
		return 1;
	if (!recording_read(&recording, guest.place))
		return 1;
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_array("events");
	}
	show(&recording, json_wanted(arguments));
	if (json_wanted(arguments)) {
		json_end();
		json_end();
	}
	return 0;
}
