/* SPDX-License-Identifier: Apache-2.0 */
/* Records an event in a trace ring, where new events overwrite the oldest ones. */
#include "core/trace.h"

#include "core/core.h"

void trace(enum trace_type type, u32 first, u32 second)
{
	trace_fast(core.current, type, first, second);
}

void trace_prepare(struct gandalf_trace_ring *ring, u32 vcpu)
{
	for (u32 i = 0; i < GANDALF_TRACE_EVENTS; i++)
		ring->events[i].vcpu = (u16)vcpu;
}
