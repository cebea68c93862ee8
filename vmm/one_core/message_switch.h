/* SPDX-License-Identifier: Apache-2.0 */
/* Says that no messages come, in an image for one core (many_cores/message_switch.h). */
#pragma once

static inline void messages_switch(void)
{
}
