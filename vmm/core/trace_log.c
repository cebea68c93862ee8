/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the trace ring into words, for reports and for the VMM's console. */
#include "arch.h"
#include "core/log.h"
#include "core/trace.h"
#include "lib/string.h"

/* Events looked at between two looks at more urgent guests. */
#define SEARCH_STEP 8u

static const char names[] =
#define X(name, text) #name "\0"
	GANDALF_TRACE_LIST(X);
#undef X

/* Returns an event for a search. Now and then it lets interrupts in. */
static const struct gandalf_trace_event *trace_event(u32 number)
{
	if (number % SEARCH_STEP == 0)
		log_pause();
	return &trace_events[number % GANDALF_TRACE_EVENTS];
}

void trace_log(u32 vcpu, u32 count)
{
	u32 end = trace_next;
	u32 oldest = end > GANDALF_TRACE_EVENTS ? end - GANDALF_TRACE_EVENTS : 0;
	u32 at = end;

	while (at > oldest && count != 0)
		count -= trace_event(--at)->vcpu == vcpu;
	for (; at < end; at++) {
		const struct gandalf_trace_event *event = trace_event(at);

		if (event->vcpu == vcpu)
			log_line("  %llu us, vCPU %u: %s %x, %x",
				 (unsigned long long)time_microseconds(event->time), event->vcpu,
				 string_of_list(names, event->type), event->first, event->second);
	}
}
