/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves messages for tests that play all cores. They include it behind their core_is(), which says
 * whose turn it is.
 */
#include "core/message.h"

/* Serves a message on a core, as message.c would: by the range that it is in. */
static void serve_on(u32 index, u32 from, u32 message)
{
	const struct message_range *const *at;

	core_is(index);
	for (at = UNITS_FIRST(message_ranges); at < UNITS_END(message_ranges); at++)
		if (message - (*at)->first < (*at)->count) {
			(*at)->serve(from, message - (*at)->first);
			return;
		}
	fail();
}
