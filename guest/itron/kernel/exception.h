/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task exceptions.
 */
#ifndef EXCEPTION_H
#define EXCEPTION_H

/*
 * Calls the running task's exception routine while something is pending and it may. On the
 * task's stack, in task context, interrupts disabled at the beginning and at the end. The port
 * calls it whenever it is about to let a task run.
 */
void exception_deliver(void);

#endif
