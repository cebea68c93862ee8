/* SPDX-License-Identifier: Apache-2.0 */
/* The epochs of channels, which tell one life of their guests from the next (abi/channel.h). */
#pragma once

#include "abi/channel.h"
#include "arch.h"
#include "core/module.h"
#include "lib/types.h"

/* Of a channel: head and tail of each ring. */
#define EPOCH_INDICES 4u

/* Empties a channel, by its place in the table: all four indices of its rings are the first of the
 * epoch. The guests at both sides can write them, so they are written as guests' memory is. */
static inline void epoch_write(u32 channel, u32 epoch)
{
	u32 indices[EPOCH_INDICES];

	indices[0] = indices[1] = indices[2] = indices[3] = epoch * GANDALF_CHANNEL_EPOCH;
	memory_copy_out(system_table.channels[channel].base, indices, sizeof(indices));
}

/* Begins a new epoch in a channel, by its place in the table, which empties it. The idle vCPU calls
 * this, with interrupts masked. */
void epoch_begin(u32 channel);
