/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a vCPU that gets the core go on with the messages of other cores that the one before has left
 * on its VMM stack (core/message.c). An image for one core has one_core/message_switch.h instead.
 */
#pragma once

#include "core/core.h"
#include "platform.h"

/* Is called at a switch, with interrupts masked. The interrupt comes as soon as the next vCPU lets
 * one in. */
static inline void messages_switch(void)
{
	if ((core.unusual & SWITCH_AMID_MESSAGES) == 0)
		return;
	core.unusual &= (u8)~SWITCH_AMID_MESSAGES;
	cpu_interrupt_message(cpu_own_id());
}
