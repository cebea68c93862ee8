/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns an RTOS's ELF file into plain bytes, so that the VMM parses nothing. It
 * takes and refuses what the host tool does (tools/gandalf/description/images.py).
 */
#ifndef GANDALFCTL_IMAGE_H
#define GANDALFCTL_IMAGE_H

#include <stdint.h>

struct image {
	uint8_t *bytes; /* what the guest's memory holds from address 0 up; free() it */
	uint32_t size;
	uint32_t entry;
};

/*
 * file: open for reading. memory: bytes that the segments may occupy, room: that
 * the image may have. Returns NULL, or what is wrong; it goes on after the file's
 * name and stays until the next call.
 */
const char *image_read(int file, uint32_t memory, uint32_t room, struct image *image);

#endif
