/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-A m, for whoever sits at screen and keyboard: the other consoles are silent while an editor
 * has the screen. At the UART the host tool does that. no_screen/mute.h is the other one.
 */
#pragma once

#include "device/console.h"

#define MUTE_HELP "[Ctrl-A m: mute the others]\r\n"

/* Returns whether nothing of other consoles is shown now. */
static inline bool mute_is_on(const struct console_mux *mux)
{
	return mux->muted;
}

/* Takes the letter behind Ctrl-A. Any but this one has the others heard again. Returns whether it
 * is this one. */
static inline bool mute_take(struct console_mux *mux, u8 byte)
{
	mux->muted = byte == 'm' && !mux->muted;
	return byte == 'm';
}

/* Has the others heard again, in the end. */
static inline void mute_end(struct console_mux *mux)
{
	mux->muted = false;
}
