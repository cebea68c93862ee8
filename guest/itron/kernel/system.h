/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System state: in which context the CPU is, and what a service call may do there.
 *
 * A service call from a task disables interrupts, does its work, and lets call_end() dispatch
 * and enable them again. In a handler interrupts are disabled from its first instruction to
 * its last, and the dispatch comes at its end: the calls for handlers do neither.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "configuration.h"
#include "port.h"

extern bool handler_runs; /* non-task context, or the kernel is not started */
extern bool cpu_locked;
extern bool dispatch_disabled;

/* Begins a call from task context: E_OK, interrupts disabled, or E_CTX. */
ER call_begin(void);

/* Begins a call from task context that may wait: E_OK, E_CTX or E_PAR. With TMO_POL it will
 * not wait, so that dispatching may be disabled. */
ER wait_call_begin(TMO timeout);

/* Begins a call from a handler: E_OK or E_CTX. */
ER handler_call_begin(void);

/* Ends a call from task context: dispatches if another task should run, enables interrupts,
 * returns the result. */
ER call_end(ER result);

/* Is there an object with this ID? E_OK, E_ID or E_NOEXS. table: the configuration of
 * this kind of object, which has count elements of that size. */
ER object_check(ID id, ID count, const void *table, SIZE size);

/* Starts the kernel. Interrupts disabled, on the stack that handlers will use. */
void kernel_start(void) __attribute__((noreturn));

#endif
