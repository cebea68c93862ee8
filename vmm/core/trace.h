/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace rings, which say with time stamps what the VMM did last. Each guest has one, so that it
 * keeps its last events whatever others do, and the VMM has one for when no guest runs. Every
 * report of a stopped guest ends with the guest's last events. To record an event costs 12
 * instructions. abi/control.h has the layout.
 */
#pragma once

#include "abi/control.h"
#include "abi/table.h"
#include "arch/ia32/cpu.h"
#include "lib/types.h"

enum trace_type {
#define X(name, text) TRACE_##name,
	GANDALF_TRACE_LIST(X)
#undef X
	TRACE_TYPES
};

/* The VMM's ring comes first, since a system has few guests: who reads the rings from outside reads
 * a piece from the beginning (tools/gandalf/measure). */
#define TRACE_RINGS (1 + GANDALF_GUESTS_MAXIMUM)
extern struct gandalf_trace_ring trace_rings[TRACE_RINGS];

static inline struct gandalf_trace_ring *trace_ring_of(u32 guest)
{
	return &trace_rings[1 + guest];
}

/* Records an event of the current vCPU. */
void trace(enum trace_type type, u32 first, u32 second);

/* Takes the place of the next event, which the caller is to write. The assembly statement has the
 * compiler keep its address in a register, which takes fewer bytes of code. */
static inline struct gandalf_trace_event *trace_begin(struct gandalf_trace_ring *ring)
{
	struct gandalf_trace_event *event =
		&ring->events[fetch_add(&ring->next, 1) % GANDALF_TRACE_EVENTS];

	__asm__("" : "+r"(event));
	return event;
}

/* Writes all of an event but its time, and its vCPU, which trace_prepare() has written. It is a
 * macro so that each word is computed just when it is stored, and occupies no register before. */
#define trace_write(event, event_type, first_word, second_word)                                    \
	((event)->type = (u16)(event_type), (event)->first = (first_word),                         \
	 (event)->second = (second_word))

/* Records an event of a given vCPU without a call, for the way to an RTOS. */
#define trace_fast(of, event_type, first_word, second_word)                                        \
	do {                                                                                       \
		struct gandalf_trace_event *trace_event_ = trace_begin((of)->trace);               \
		trace_event_->time = rdtsc();                                                      \
		trace_write(trace_event_, event_type, first_word, second_word);                    \
	} while (0)

/* Writes whose events those of a ring are, which no event changes. */
static inline void trace_prepare(struct gandalf_trace_ring *ring, u32 vcpu)
{
	for (u32 i = 0; i < GANDALF_TRACE_EVENTS; i++)
		ring->events[i].vcpu = (u16)vcpu;
}

/* Logs the last count events of a ring. Interrupts are let in meanwhile, and others may run. */
void trace_log(const struct gandalf_trace_ring *ring, u32 count);
