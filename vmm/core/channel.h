/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: the memory that two guests share, whose layout and use is theirs
 * (abi/channel.h). The VMM maps it, tells each guest where, and begins a new epoch
 * before one of the two starts, and behind its end.
 */
#pragma once

#include "core/vm.h"

/* RTOS: maps its channels behind its memory. Returns their bytes. */
u32 channel_map(const struct vm *vm);
/* Writes where its channels are into the shared page. */
void channel_tell(const struct vm *vm);
/* A guest that starts has its channels emptied, and so has one that has stopped; then the other
 * sides are told. For the idle vCPU: others run between two channels, so the guest is down at
 * the first. */
void channel_renew(const struct vm *vm);
void channel_ring_peers(const struct vm *vm);
/* Whether there is a channel between two guests. */
bool channel_connects(const struct vm *one, const struct vm *other);
