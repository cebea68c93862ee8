/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the window in which a core takes so many messages only (message.c), and has those that wait
 * served at its end. The scheduler needs no more of messages than that.
 */
#include "core/message_quick.h"

#include "lib/owner.h"

OF_CORE struct message_window message_window;
OF_CORE struct deadline message_window_end;

void message_window_is_full(void)
{
	deadline_set(&message_window_end, message_window.ends);
}
