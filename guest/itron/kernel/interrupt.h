/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupt handlers and CPU exception handlers.
 */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "configuration.h"

extern const UINT interrupt_count, exception_count, initialization_count;

/* By vector: CPU exceptions from 0, interrupts from TMIN_INHNO; NULL: none. */
extern FP interrupt_handlers[TMAX_INHNO + 1];

void interrupt_init(void);

/* Calls the interrupt handler and sees who should run now. The port has saved the context of
 * the running task; interrupts disabled, on the stack of the handlers. */
void interrupt_run(UINT vector);

/* The same for a CPU exception, in a task or, on the stack that it happened on, in a handler,
 * whereupon there is no context to restore but that one. */
void exception_run(T_EXCINF *information);

#endif
