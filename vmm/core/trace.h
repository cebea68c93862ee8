/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace ring: what the VMM did last, with time stamps. Every report of a
 * stopped guest ends with its last events. An event costs 13
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

/* An event whose other words are still to be written. */
static inline struct gandalf_trace_event *trace_begin(enum trace_type type)
{
	struct gandalf_trace_event *event =
		&trace_events[fetch_add(&trace_next, 1) % GANDALF_TRACE_EVENTS];

	rdtsc_to(&event->time);
	event->type = (u16)type;
	return event;
}

/* The same as trace() for a vCPU, without a call: on the way to an RTOS. A macro, so that what
 * it records is read as it is stored and takes no register before. */
#define trace_fast(id, event_type, first_word, second_word)                                        \
	do {                                                                                       \
		struct gandalf_trace_event *trace_event_ = trace_begin(event_type);                \
                                                                                                   \
		trace_event_->vcpu = (u16)(id);                                                    \
		trace_event_->first = (first_word);                                                \
		trace_event_->second = (second_word);                                              \
	} while (0)

/* Logs the last count events of the vCPU. */
void trace_log(u32 vcpu, u32 count);
