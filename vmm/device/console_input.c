/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes what is typed on the one line of the console multiplexer: commands to the multiplexer
 * itself, and bytes for the console that has the focus.
 */
#include "device/console_buffer.h"
#include "device/escape.h"
#include "mute.h"

void console_set_focus(struct console_mux *mux, struct console *console)
{
	mux->focus = console;
	mux->notice_focus = true;
}

static void input_command(struct console_mux *mux, u8 byte)
{
	if (mute_take(mux, byte))
		return;
	if (byte == 'n')
		console_set_focus(mux, console_next(mux, mux->focus));
	else if (byte == 'a')
		console_push_input(mux->focus, CONTROL_A);
	else if (byte != 'x') /* the host tool leaves at Ctrl-A x and does not send it */
		mux->notice_help = true;
}

void console_input(struct console_mux *mux, u8 byte)
{
	if (mux->command) {
		mux->command = false;
		input_command(mux, byte);
	} else if (byte == CONTROL_A) {
		mux->command = true;
	} else {
		console_push_input(mux->focus, byte);
	}
}
