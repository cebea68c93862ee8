/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a bare PC that the port uses.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include "kernel.h"

/* Interrupt lines of the 8259 pair. */
#define LINE_TIMER 0
#define LINE_CONSOLE 4

/* machine.c: from boot.S. */
void machine_start(void) __attribute__((noreturn));

/* pic.c: all lines masked, vectors from TMIN_INHNO on. */
void pic_init(void);
void pic_unmask(UINT line);

/* timer.c: 1 ms, and how fast the time stamp counter is. */
void timer_init(void);

/* uart.c: 115200 baud, 8 bits. */
void uart_init(void);
void uart_input_enable(void);

#endif
