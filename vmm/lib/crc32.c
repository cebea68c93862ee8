/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes CRC-32 by the method called "slicing", which takes four bytes at a time with four
 * tables. It needs about five instructions for each byte of a guest image, and boot waits for it.
 */
#include "lib/crc32.h"

#include "lib/owner.h"

#define POLYNOMIAL 0xedb88320u /* IEEE 802.3, bits reversed */
#define SLICES 4

/* remainders[n][b] is the remainder of byte b with n zero bytes behind it. The tables are made when
 * they are used for the first time. */
OF_MACHINE static u32 remainders[SLICES][256];

static void remainders_make(void)
{
	for (u32 byte = 0; byte < 256; byte++) {
		u32 crc = byte;

		for (u32 bit = 0; bit < 8 * SLICES; bit++) {
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
			remainders[bit / 8][byte] = crc;
		}
	}
}

u32 crc32_update(u32 crc, const void *data, u32 size)
{
	const u8 *byte = data;

	if (remainders[0][1] == 0)
		remainders_make();
	crc = ~crc;
	for (; size >= SLICES; size -= SLICES, byte += SLICES) {
		u32 word;

		__builtin_memcpy(&word, byte, sizeof(word)); /* one instruction, not a call */
		crc ^= word;
		crc = remainders[3][crc & 0xff] ^ remainders[2][crc >> 8 & 0xff] ^
		      remainders[1][crc >> 16 & 0xff] ^ remainders[0][crc >> 24];
	}
	for (; size > 0; size--)
		crc = crc >> 8 ^ remainders[0][(crc ^ *byte++) & 0xff];
	return ~crc;
}
