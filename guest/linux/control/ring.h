/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a console, or the VMM's log, from the ring of its last bytes while more are written. */
#ifndef GANDALFCTL_RING_H
#define GANDALFCTL_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"

struct ring {
	uint32_t place;   /* the guest's, or GANDALF_PLACE_VMM */
	uint32_t next;    /* the number of the first byte not read yet, modulo 2^32 */
	bool complete;    /* nothing was written before the first byte read */
};

/* Begins with the oldest byte that is still there. Returns false after a sentence on standard
 * error. */
bool ring_begin(struct ring *ring, uint32_t place);

/*
 * Reads what is new. Sets *lost to the number of bytes before it that were overwritten meanwhile.
 * Returns the number of bytes, or -1 after a sentence on standard error.
 */
long ring_read(struct ring *ring, char bytes[GANDALF_CONSOLE_RING], uint32_t *lost);

#endif
