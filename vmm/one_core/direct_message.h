/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes no messages to a core whose interrupts are a guest's, in an image for one core: there are
 * none. many_cores/direct_message.h is the other one.
 */
#pragma once

#include "lib/types.h"

static inline void direct_message_begin(void)
{
}

static inline void direct_message_end(void)
{
}

MUST_CHECK static inline bool direct_message(UNUSED u32 vector)
{
	return false;
}

static inline void direct_message_attend(void)
{
}

static inline bool direct_message_comes(void)
{
	return false;
}

static inline void direct_message_renew(void)
{
}
