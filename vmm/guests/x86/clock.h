/* SPDX-License-Identifier: Apache-2.0 */
/* The chips of a mainboard that know the time, PIT and RTC. Interrupts are masked at each call. */
#pragma once

#include "guests/x86/board.h"

/* Makes their deadlines, of which none is set. */
void clock_create(struct board *board);
/* Sets both as at power-on. seconds is the time since 1970. */
void clock_reset(struct board *board, u32 seconds);
/* Sets their deadlines. */
void clock_start(struct board *board);
/* Sets them never, so that nothing happens to the chips any more. */
void clock_stop(struct board *board);
/* Serves the chip that is due, one of BOARD_DUE_PIT and BOARD_DUE_RTC. */
void clock_settle(struct board *board, u8 due);
