/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the messages of other cores that a vCPU is amid, when it loses the core, taken on the stack
 * of whoever has the core then (core/message.c). An image for one core has
 * one_core/message_switch.h instead.
 */
#pragma once

#include "core/core.h"
#include "core/message_quick.h"

/* Is called at a switch, with interrupts masked. The interrupt comes at the window's end, and not
 * at once: the next vCPU may be an RTOS, whose timer has just interrupted. */
static inline void messages_switch(void)
{
	if ((core.unusual & SWITCH_AMID_MESSAGES) == 0)
		return;
	core.unusual &= (u8)~SWITCH_AMID_MESSAGES;
	message_window_is_full();
}
