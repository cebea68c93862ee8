/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: the memory that two guests share, whose layout and use is theirs
 * (abi/channel.h). The VMM maps it, tells each guest where, and begins a new epoch
 * whenever one of the two starts or stops.
 */
#pragma once

#include "core/vm.h"

/* RTOS: maps its channels behind its memory. Returns their bytes. */
u32 channel_map(const struct vm *vm);
/* Writes where its channels are into the shared page. */
void channel_tell(const struct vm *vm);
/* The guest starts or stops: its channels are emptied, and the other sides told. */
void channel_renew(const struct vm *vm);
/* GANDALF_HYPERCALL_DOORBELL; every guest. */
u32 hypercall_doorbell(struct vcpu *vcpu);
