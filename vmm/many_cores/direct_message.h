/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes messages of other cores to one whose interrupts are a guest's (core/direct.h). They
 * interrupt that guest, as far as it lets interrupts in, by vectors that stay the VMM's. This core
 * has no clock then, so all are taken as they come, and what would have to be tried again later is
 * not begun. An image for one core has one_core/direct_message.h instead.
 */
#pragma once

#include "lib/types.h"

/* When the guest is given the core's interrupts, and when they are taken back: it may have switched
 * the local APIC off, which then let no message in. */
void direct_message_begin(void);
void direct_message_end(void);
/* Serves an interrupt that has come by a vector if it is that of a message, and returns whether it
 * is. What comes amid the VMM's work for the guest is left: it may be an order to stop that. */
MUST_CHECK bool direct_message(u32 vector);
/* Before the return to the guest: what is left interrupts that. */
void direct_message_attend(void);
/* Whether others may send any, so that the guest must not change how they reach the core. */
static inline bool direct_message_comes(void)
{
	return true;
}

/* When the guest may have switched its local APIC on: what has been sent before interrupts it. */
void direct_message_renew(void);
