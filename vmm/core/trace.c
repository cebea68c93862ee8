/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the trace ring of the core, in which new events overwrite the oldest ones. */
#include "core/trace.h"

#include "core/core.h"
#include "lib/owner.h"

OF_CORE_TRACE struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
OF_CORE u32 trace_next;

void trace(enum trace_type type, u32 first, u32 second)
{
	trace_fast(core.current->id, type, first, second);
}
