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

/* Has the types of events. text says what the two numbers of one are, with a comma between. */
static const struct {
	const char *name, *text;
} types[] = {
#define X(name, text) {#name, text},
	GANDALF_TRACE_LIST(X)
#undef X
};

/* Has the ring, and the names of the guests by their places. */
struct recording {
	struct gandalf_trace_event events[EVENTS];
	uint32_t first, end; /* the numbers of the first event and of the one behind the last */
	uint32_t tsc_khz;
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

/* Reads the ring. To read makes events, too; those that the ring lost meanwhile are left out. */
static bool recording_read(struct recording *recording)
{
	struct gandalf_system_status before, after;

	if (!system_read(&before) || !names_read(recording, before.guest_count) ||
	    !system_read(&before) ||
	    !object_read(GANDALF_OBJECT_TRACE, NO_PLACE, recording->events,
			 sizeof(recording->events)) ||
	    !system_read(&after))
		return false;
	recording->tsc_khz = before.tsc_khz;
	recording->end = before.trace_next;
	recording->first = after.trace_next > EVENTS ? after.trace_next - EVENTS : 0;
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

static void show_text(const struct recording *recording, const struct gandalf_trace_event *event)
{
	const char *text = types[event->type].text;
	const char *comma = strchr(text, ',');

	printf("%" PRIu64 " us, %s: %s: %.*s %#x,%s %#x\n", microseconds(recording, event->time),
	       vcpu_name(recording, event->vcpu), types[event->type].name, (int)(comma - text),
	       text, event->first, comma + 1, event->second);
}

static void show_json(const struct recording *recording, const struct gandalf_trace_event *event)
{
	json_object(NULL);
	json_number("time_us", microseconds(recording, event->time));
	if (event->vcpu == IDLE)
		json_null("guest");
	else
		json_string("guest", vcpu_name(recording, event->vcpu));
	json_string("event", types[event->type].name);
	json_number("first", event->first);
	json_number("second", event->second);
	json_end();
}

static int compare_times(const void *a, const void *b)
{
	const struct gandalf_trace_event *const *left = a, *const *right = b;

	if ((*left)->time == (*right)->time)
		return *left < *right ? -1 : 1;
	return (*left)->time < (*right)->time ? -1 : 1;
}

/*
 * Fills events in the order of time and returns how many there are. The ring has them in the order
 * in which they got their places, and an interrupt may come between an event's place and its time
 * stamp.
 */
static uint32_t sort(const struct recording *recording,
		     const struct gandalf_trace_event *events[EVENTS])
{
	uint32_t count = 0;

	for (uint32_t number = recording->first; (int32_t)(recording->end - number) > 0; number++)
		events[count++] = &recording->events[number % EVENTS];
	qsort(events, count, sizeof(*events), compare_times);
	return count;
}

/* Shows the events of a vCPU, or with UINT32_MAX those of all. */
static void show(const struct recording *recording, uint32_t vcpu, bool json)
{
	static const struct gandalf_trace_event *events[EVENTS];
	uint32_t count = sort(recording, events);

	for (uint32_t i = 0; i < count; i++) {
		const struct gandalf_trace_event *event = events[i];

		if (event->type >= sizeof(types) / sizeof(*types) ||
		    (vcpu != UINT32_MAX && event->vcpu != vcpu))
			continue;
		if (json)
			show_json(recording, event);
		else
			show_text(recording, event);
	}
}

int command_trace(const struct arguments *arguments)
{
	static struct recording recording;
	struct guest guest = {.place = UINT32_MAX};

	if (arguments->guest && !guest_find(arguments->guest, &guest, NULL))
		return 1;
	if (!recording_read(&recording))
		return 1;
	if (json_wanted(arguments)) {
		json_object(NULL);
		json_array("events");
	}
	show(&recording, guest.place, json_wanted(arguments));
	if (json_wanted(arguments)) {
		json_end();
		json_end();
	}
	return 0;
}
