/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32 (IEEE 802.3) as zlib computes it. It is the checksum of the compiled system
 * description and of the guest images behind it (abi/table.h).
 */
#pragma once

#include "lib/types.h"

/* Returns the CRC of some earlier bytes and the size bytes at data together. crc is that of the
 * earlier bytes; it is 0 if there are none. */
u32 crc32_update(u32 crc, const void *data, u32 size);
