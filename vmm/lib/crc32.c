/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32 half a byte at a time: a table of 64 bytes, about eight instructions
 * per byte of a guest image, once at boot and once per restart.
 */
#include "lib/crc32.h"

/* The remainders of the sixteen half bytes for the reversed polynomial. */
static const u32 remainders[16] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
	0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
	0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

u32 crc32_update(u32 crc, const void *data, u32 size)
{
	const u8 *byte = data;

	crc = ~crc;
	while (size-- > 0) {
		crc ^= *byte++;
		crc = crc >> 4 ^ remainders[crc & 15];
		crc = crc >> 4 ^ remainders[crc & 15];
	}
	return ~crc;
}
