/* SPDX-License-Identifier: Apache-2.0 */
/* The command stats, which shows every counter of a guest. */
#include <stdio.h>

#include "command.h"
#include "guest.h"
#include "json.h"

static const struct {
	const char *name, *text;
} counters[] = {
#define X(name, text) {#name, text},
	GANDALF_COUNTER_LIST(X)
#undef X
};

#define COUNTERS (sizeof(counters) / sizeof(*counters))

static void show_text(const uint32_t values[COUNTERS])
{
	for (unsigned i = 0; i < COUNTERS; i++)
		printf("%-18s %10u  %s\n", counters[i].name, values[i], counters[i].text);
}

static void show_json(const struct guest *guest, const uint32_t values[COUNTERS])
{
	json_object(NULL);
	json_string("guest", guest->status.name);
	json_object("counters");
	for (unsigned i = 0; i < COUNTERS; i++)
		json_number(counters[i].name, values[i]);
	json_end();
	json_end();
}

int command_stats(const struct arguments *arguments)
{
	uint32_t values[COUNTERS];
	struct guest guest;

	if (!guest_find(arguments->guest, &guest, NULL) ||
	    !object_read(GANDALF_OBJECT_COUNTERS, guest.place, values, sizeof(values)))
		return 1;
	if (json_wanted(arguments))
		show_json(&guest, values);
	else
		show_text(values);
	return 0;
}
