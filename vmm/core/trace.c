/* SPDX-License-Identifier: Apache-2.0 */
/* The trace ring, overwritten from the front; one per core. */
#include "core/trace.h"

#include "core/core.h"
#include "core/log.h"
#include "core/time.h"
#include "ia32/cpu.h"

__attribute__((section(".trace"))) static struct trace_event events[TRACE_EVENTS];
static u32 next;

static const char *const names[TRACE_TYPES] = {
#define X(name, text) #name,
	TRACE_LIST(X)
#undef X
};

void trace(enum trace_type type, u32 first, u32 second)
{
	struct trace_event *event = &events[fetch_add(&next, 1) % TRACE_EVENTS];

	event->time = rdtsc();
	event->type = (u16)type;
	event->vcpu = (u16)core.current->id;
	event->first = first;
	event->second = second;
}

void trace_log(u32 vcpu, u32 count)
{
	u32 end = next;
	u32 oldest = end > TRACE_EVENTS ? end - TRACE_EVENTS : 0;
	u32 at = end;

	while (at > oldest && count != 0)
		count -= events[--at % TRACE_EVENTS].vcpu == vcpu;
	for (; at < end; at++) {
		const struct trace_event *event = &events[at % TRACE_EVENTS];

		if (event->vcpu == vcpu)
			log_line("  %llu us, vCPU %u: %s %x, %x",
				 (unsigned long long)time_microseconds(event->time), event->vcpu,
				 names[event->type], event->first, event->second);
	}
}
