/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace ring, which says with time stamps what the VMM did last. Every report of a stopped
 * guest ends with the guest's last events. To record an event costs 13 instructions. abi/control.h
 * has the layout.
 */
#pragma once

#include "abi/control.h"
#include "arch/ia32/cpu.h"
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

/* Takes the place of the next event, which the caller is to write. The assembly statement has the
 * compiler keep its address in a register, which takes fewer bytes of code. */
static inline struct gandalf_trace_event *trace_begin(void)
{
	struct gandalf_trace_event *event =
		&trace_events[fetch_add(&trace_next, 1) % GANDALF_TRACE_EVENTS];

	__asm__("" : "+r"(event));
	return event;
}

/* Writes all of an event but its time. It is a macro so that each word is computed just when it is
 * stored, and occupies no register before. */
#define trace_write(event, id, event_type, first_word, second_word)                                \
	((event)->type = (u16)(event_type), (event)->vcpu = (u16)(id),                             \
	 (event)->first = (first_word), (event)->second = (second_word))

/* Records an event of a given vCPU without a call, for the way to an RTOS. */
#define trace_fast(id, event_type, first_word, second_word)                                        \
	do {                                                                                       \
		struct gandalf_trace_event *trace_event_ = trace_begin();                          \
		trace_event_->time = rdtsc();                                                      \
		trace_write(trace_event_, id, event_type, first_word, second_word);                \
	} while (0)

/* Logs the last count events of a vCPU. Interrupts are let in meanwhile, and others may run. */
void trace_log(u32 vcpu, u32 count);
