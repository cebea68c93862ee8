/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen in an image that has it in the place of a UART only, and has no keyboard.
 * screen/display.h is the other one.
 */
#pragma once

#include "platform.h"

/* How many bytes go to the UART, or to the screen, in one step. */
#define PUMP_BYTES 2u

static inline void display_begin(UNUSED bool copies)
{
}

static inline void keyboard_listen(void)
{
}

static inline bool keyboard_serve(UNUSED unsigned irq, UNUSED bool *received)
{
	return false;
}

static inline void display_copy(UNUSED u8 byte)
{
}

static inline void display_flush(void)
{
}

static inline void display_clear(void)
{
	screen_clear();
}

MUST_CHECK static inline bool display_is_ready(void)
{
	return screen_is_ready();
}

static inline void display_write(u8 byte)
{
	screen_write(byte);
}
