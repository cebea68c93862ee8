/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a message from one core to another is on its way, by the two words that say so. */
#pragma once

#include "core/message.h"

static inline bool message_is_on_its_way(u32 from, u32 to, u32 message)
{
	u32 word = message / 32;

	return ((outbox_of(from)->raised[to][word] ^ outbox_of(to)->seen[from][word]) >>
		message % 32 & 1) != 0;
}
