/* SPDX-License-Identifier: Apache-2.0 */
/* The epochs of channels, which tell one life of their guests from the next (abi/channel.h). */
#pragma once

#include "lib/types.h"

/* Begins a new epoch in a channel, by its place in the table, which empties it. The idle vCPU calls
 * this, with interrupts masked. */
void epoch_begin(u32 channel);
