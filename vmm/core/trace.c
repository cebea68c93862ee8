/* SPDX-License-Identifier: Apache-2.0 */
/* The trace ring, overwritten from the front; one per core. */
#include "core/trace.h"

#include "core/core.h"
#include "core/log.h"

__attribute__((section(".trace"))) struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
u32 trace_next;

static const char *const names[TRACE_TYPES] = {
#define X(name, text) #name,
	GANDALF_TRACE_LIST(X)
#undef X
};

void trace(enum trace_type type, u32 first, u32 second)
{
	trace_fast(core.current->id, type, first, second);
}

COLD void trace_log(u32 vcpu, u32 count)
{
	u32 end = trace_next;
	u32 oldest = end > GANDALF_TRACE_EVENTS ? end - GANDALF_TRACE_EVENTS : 0;
	u32 at = end;

	while (at > oldest && count != 0)
		count -= trace_events[--at % GANDALF_TRACE_EVENTS].vcpu == vcpu;
	for (; at < end; at++) {
		const struct gandalf_trace_event *event =
			&trace_events[at % GANDALF_TRACE_EVENTS];

		if (event->vcpu == vcpu)
			log_line("  %llu us, vCPU %u: %s %x, %x",
				 (unsigned long long)time_microseconds(event->time), event->vcpu,
				 names[event->type], event->first, event->second);
	}
}
