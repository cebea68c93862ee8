/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32 (IEEE 802.3) as zlib computes it: the checksum of the compiled system
 * description and of the guest images behind it.
 */
#pragma once

#include "lib/types.h"

/* The CRC of what came before, 0 at first, continued over size bytes of data. */
u32 crc32_update(u32 crc, const void *data, u32 size);
