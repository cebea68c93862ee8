/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a network, whose two ends a test plays, and its epochs. */
#pragma once

#include "abi/network_end.h"
#include "lib/types.h"

#define SIZE 8192u
#define CAPACITY ((SIZE - GANDALF_CHANNEL_HEADER) / 2)
#define FRAME GANDALF_NETWORK_FRAME
#define GUARD 0xaau

static union {
	struct gandalf_network network;
	u8 bytes[SIZE + 1]; /* one more, which stays */
} memory;

static u32 epoch;

/* As the VMM does it when a guest starts or stops. */
static void renew(void)
{
	epoch += GANDALF_CHANNEL_EPOCH;
	for (u32 i = 0; i < 2; i++)
		memory.network.rings[i].head = memory.network.rings[i].tail = epoch;
}
