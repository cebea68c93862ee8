/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What conformance.cfg names: priorities, and the functions that the kernel calls.
 */
#ifndef CONFIGURED_H
#define CONFIGURED_H

#include "kernel.h"

#define MAIN_PRIORITY 8
#define HIGH_PRIORITY 4
#define LOW_PRIORITY 12

/* Lines of the 8259 pair with a serial port each, one at each controller and one where a
 * spurious interrupt would come. test_conformance.py puts them into the machine. */
#define LINE_MASTER 3
#define LINE_SLAVE 10
#define LINE_LAST 7

/* suite.c */
void main_run(VP_INT exinf);
void helper_run(VP_INT exinf);
void handler_call(VP_INT exinf);
void exception_skip(T_EXCINF *information);

/* exception.c */
void main_exception(TEXPTN pattern, VP_INT exinf);

/* time.c */
void cyclic_count_up(VP_INT exinf);
void cyclic_phase(VP_INT exinf);
void cyclic_started(VP_INT exinf);

/* interrupt.c */
void interrupt_master(void);
void interrupt_slave(void);
void interrupt_last(void);
void interrupt_timer(void);
void exception_note(T_EXCINF *information);

/* start.c */
void initialize(VP_INT exinf);
void start_run(VP_INT exinf);

#endif
