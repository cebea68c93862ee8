/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves messages for tests that play all cores. They include it behind their core_is(), which says
 * whose turn it is.
 */
#include "serve_message.h"

/* Serves a message on a core. */
static void serve_on(u32 index, u32 from, u32 message)
{
	core_is(index);
	serve_message(from, message);
}
