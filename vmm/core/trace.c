/* SPDX-License-Identifier: Apache-2.0 */
/* Records an event in a trace ring, where new events overwrite the oldest ones. */
#include "core/trace.h"

#include "core/core.h"

void trace(enum trace_type type, u32 first, u32 second)
{
	trace_fast(core.current, type, first, second);
}
