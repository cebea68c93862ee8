/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what a space (guests/x86/shadow/space.h) has for a guest with several vCPUs, to know
 * whether it has followed what they flush (guests/x86/smp/flush_log.c). In an image for guests with
 * one vCPU single/space_epoch.h takes the place of this.
 */
#pragma once

#include "lib/types.h"

struct space_epoch {
	u32 epoch; /* smp.epoch when the space was last right */
};
