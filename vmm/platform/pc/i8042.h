/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's keyboard controller (Intel 8042), of which the keyboard alone is used. The firmware
 * has set it up as it needs it itself: it interrupts, and codes are those of set 1.
 */
#pragma once

#include "lib/types.h"

#define I8042_IRQ 1u

/* Leaves out what has been typed so far: the keyboard does not interrupt before that has been read.
 * Returns false if there is no controller. */
MUST_CHECK bool i8042_empty(void);
/* Returns the next code of the keyboard, or -1. Behind it the next one comes, with an interrupt. */
int i8042_read(void);
