/* SPDX-License-Identifier: Apache-2.0 */
/* The trace ring, overwritten from the front; one per core. */
#include "core/trace.h"

#include "core/core.h"

__attribute__((section(".trace"))) struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
u32 trace_next;

void trace(enum trace_type type, u32 first, u32 second)
{
	trace_fast(core.current->id, type, first, second);
}
