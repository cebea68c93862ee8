/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of messages' own interrupts that a test's program is linked with. */
#pragma once

#include <stdlib.h>

#include "core/message.h"

static inline void message_enters(u32 vector, struct frame *of)
{
	const struct message_entry *const *at;

	for (at = UNITS_FIRST(message_entries); at < UNITS_END(message_entries); at++)
		if ((*at)->interrupt == vector) {
			(*at)->handler(of);
			return;
		}
	abort();
}
