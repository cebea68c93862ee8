/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a trace ring into words, for reports and for the VMM's console. */
#include "arch.h"
#include "core/log.h"
#include "core/trace.h"
#include "lib/string.h"

static const char names[] =
#define X(name, text) #name "\0"
	GANDALF_TRACE_LIST(X);
#undef X

void trace_log(const struct gandalf_trace_ring *ring, u32 count)
{
	u32 end = ring->next;

	for (u32 at = end - minimum(count, end); at != end; at++) {
		const struct gandalf_trace_event *event = &ring->events[at % GANDALF_TRACE_EVENTS];

		log_line("  %llu us, vCPU %u: %s %x, %x",
			 (unsigned long long)time_microseconds(event->time), event->vcpu,
			 string_of_list(names, event->type), event->first, event->second);
	}
}
