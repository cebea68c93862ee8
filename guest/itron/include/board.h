/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both ports offer to applications besides the kernel, so that the same
 * sources run under the VMM and on a bare PC. Text goes out by print() of
 * guest/rtos/print.h, from any context.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* The time stamp counter now, and its frequency in kHz. */
uint64_t board_time_stamp(void);
uint32_t board_time_stamp_khz(void);

/* The time stamp at which the last timer interrupt was due. */
uint64_t board_timer_expiry(void);

/* Reads what was typed, at most size bytes; returns how many. INHNO_CONSOLE tells
 * that there is something to read. */
size_t board_console_read(char *to, size_t size);

/* Called from task context while the console is full: what to do meanwhile. NULL, as at
 * the start: spin. */
extern void (*board_console_wait)(void);

#endif
