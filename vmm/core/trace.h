/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace ring: what the VMM did last, with time stamps. Every report of a
 * stopped guest ends with its last events. An event costs about 15
 * instructions.
 */
#ifndef GANDALF_CORE_TRACE_H
#define GANDALF_CORE_TRACE_H

#include "ia32/cpu.h"
#include "lib/types.h"

/* name, what the two arguments are */
#define TRACE_LIST(X)                                                         \
	X(trap, "vector, EIP")                                                \
	X(interrupt, "vector, EIP")                                           \
	X(exception, "vector, EIP")                                           \
	X(deliver, "vector, EIP")                                             \
	X(defer, "vector, EIP")                                               \
	X(hypercall, "number, EBX")                                           \
	X(emulate, "operation, EIP")                                          \
	X(page_fault, "address, EIP")                                         \
	X(port, "port and direction, value")                                  \
	X(cr3, "page directory, hit")                                         \
	X(halt, "EIP, flag")                                                  \
	X(switch_to, "vCPU, state")                                           \
	X(start, "guest, entry")                                              \
	X(stop, "guest, reason")

enum trace_type {
#define X(name, text) TRACE_##name,
	TRACE_LIST(X)
#undef X
	TRACE_TYPES
};

#define TRACE_EVENTS 1024

struct trace_event {
	u64 time; /* time stamp counter */
	u16 type;
	u16 vcpu;
	u32 first, second;
};

extern struct trace_event trace_events[TRACE_EVENTS];
extern u32 trace_next;

/* Records an event of the current vCPU. */
void trace(enum trace_type type, u32 first, u32 second);

/* The same for a vCPU, without a call: on the way to an RTOS. */
static inline void trace_fast(u32 vcpu, enum trace_type type, u32 first, u32 second)
{
	struct trace_event *event = &trace_events[fetch_add(&trace_next, 1) % TRACE_EVENTS];

	rdtsc_to(&event->time);
	event->type = (u16)type;
	event->vcpu = (u16)vcpu;
	event->first = first;
	event->second = second;
}

/* Logs the last count events of the vCPU. */
void trace_log(u32 vcpu, u32 count);

#endif
