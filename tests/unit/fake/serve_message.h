/* SPDX-License-Identifier: Apache-2.0 */
/* Serves messages for tests that have no message.c. */
#include "core/message.h"

/* Serves a message on the core whose turn it is, as message.c would: by the range it is in. */
static void serve_message(u32 from, u32 message)
{
	const struct message_range *const *at;

	for (at = UNITS_FIRST(message_ranges); at < UNITS_END(message_ranges); at++)
		if (message - (*at)->first < (*at)->count) {
			(*at)->serve(from, message - (*at)->first);
			return;
		}
	fail();
}
