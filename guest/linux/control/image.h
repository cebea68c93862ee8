/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns an RTOS's ELF file into plain bytes, so that the VMM parses nothing. It takes and refuses
 * what the host tool does (tools/gandalf/description/images.py).
 */
#ifndef GANDALFCTL_IMAGE_H
#define GANDALFCTL_IMAGE_H

#include <stdint.h>

struct image {
	uint8_t *bytes; /* the guest's memory from address 0 up; whoever has it calls free() */
	uint32_t size;
	uint32_t entry;
};

/*
 * Reads a file that is open. Its segments may occupy memory bytes, and the image may have room
 * bytes. Returns NULL, or what is wrong, in words that go on after the file's name and stay until
 * the next call.
 */
const char *image_read(int file, uint32_t memory, uint32_t room, struct image *image);

/* Returns the CRC-32 (IEEE 802.3) of its bytes. */
uint32_t image_crc(const struct image *image);

#endif
