/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace ring: what the VMM did last, with time stamps. Every report of a
 * stopped guest ends with its last events. An event costs about 15
 * instructions; abi/control.h has its layout.
 */
#pragma once

#include "abi/control.h"
#include "ia32/cpu.h"
#include "lib/types.h"

enum trace_type {
#define X(name, text) TRACE_##name,
	GANDALF_TRACE_LIST(X)
#undef X
	TRACE_TYPES
};

extern struct gandalf_trace_event trace_events[GANDALF_TRACE_EVENTS];
extern u32 trace_next;

/* Records an event of the current vCPU. */
void trace(enum trace_type type, u32 first, u32 second);

/* The same for a vCPU, without a call: on the way to an RTOS. */
static inline void trace_fast(u32 vcpu, enum trace_type type, u32 first, u32 second)
{
	struct gandalf_trace_event *event =
		&trace_events[fetch_add(&trace_next, 1) % GANDALF_TRACE_EVENTS];

	rdtsc_to(&event->time);
	event->type = (u16)type;
	event->vcpu = (u16)vcpu;
	event->first = first;
	event->second = second;
}

/* Logs the last count events of the vCPU. */
void trace_log(u32 vcpu, u32 count);
