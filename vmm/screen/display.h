/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen and the keyboard beside the UART, if the system's description asks for them
 * (core/display.c, core/keyboard.c). In an image without them no_screen/display.h takes the place
 * of this.
 */
#pragma once

#include "lib/types.h"

/* How many bytes go to UART and screen in one step. The screen doubles the work for one. */
#define PUMP_BYTES 1u

/* Whether what goes to the UART goes to the screen, too. */
extern bool display_copies;

/* Empties the screen, and has it show from now on what goes to the UART, if copies says so. */
void display_begin(bool copies);
/* Has the keyboard of such a system interrupt. */
void keyboard_listen(void);
/* Serves an interrupt of a line. Returns false if it is not the keyboard's. received becomes true
 * if something was typed. */
MUST_CHECK bool keyboard_serve(unsigned irq, bool *received);
/* Empties the screen, and has bytes written to it. */
void display_clear(void);
void display_write(u8 byte);
/* Draws all that the screen does not show yet. */
void display_flush(void);

/* Writes a byte that goes to the UART. */
static inline void display_copy(u8 byte)
{
	if (display_copies)
		display_write(byte);
}

/* A byte is written to memory, and the screen follows. */
MUST_CHECK static inline bool display_is_ready(void)
{
	return true;
}
