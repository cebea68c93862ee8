/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels are memory that two guests share and use without the VMM (abi/channel.h). The VMM maps
 * it, tells each guest where it is, and begins a new epoch before one of the two starts and after
 * it has stopped.
 */
#pragma once

#include "core/vm.h"

/* Maps the channels of an RTOS behind its memory. Returns how many bytes they have together. */
u32 channel_map(const struct vm *vm);
/* Writes into the guest's shared page where its channels are. */
void channel_tell(const struct vm *vm);
/* Begins a new epoch in each channel of a guest, which empties it. The idle vCPU calls this while
 * the guest is down, before a start and after a stop; more urgent guests run between two
 * channels. */
void channel_renew(const struct vm *vm);
/* Rings the doorbell of each guest at the other side of a channel, so that it notices the new
 * epoch. The idle vCPU calls this; more urgent guests run between two channels. */
void channel_ring_peers(const struct vm *vm);
/* Returns whether there is a channel between two guests. */
bool channel_connects(const struct vm *one, const struct vm *other);
