/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux on a dedicated CPU takes the core's interrupts itself, by gates that lead straight to it.
 * It also has the interrupt controllers, the timer and the UART. The VMM leaves them to it when it
 * starts, and takes them back when it has stopped. core.direct says who has them, which nobody
 * but direct_owner.h and direct.c reads.
 */
#pragma once

#include "core/core.h"
#include "direct_owner.h"

/* Leaves the core's interrupts and chips to a guest that starts. The idle vCPU calls it. */
void direct_begin(struct vcpu *vcpu);
/* Takes them back when that guest has stopped. */
void direct_end(void);

/* Returns whether a guest does. */
static inline bool direct_has_owner(void)
{
	return direct_owner() != NULL;
}
