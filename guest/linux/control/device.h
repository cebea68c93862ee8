/* SPDX-License-Identifier: Apache-2.0 */
/* The way to the VMM by the driver. Tests replace it. */
#ifndef GANDALFCTL_DEVICE_H
#define GANDALFCTL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "gandalf.h"
#include "control.h"

/* This is the place of an object that is not a guest's (control.h). */
#define NO_PLACE 0

/* Opens the device, from the first CPU on. Returns false after a sentence on standard error. */
bool device_open(void);

/* Keeps others from loading an image meanwhile. Returns false if another is loading one. */
bool device_lock(void);
/* Keeps other commands from having something done to a guest until this one ends. Returns false if
 * another one has it. The VMM takes an answer that one of them has yet to fetch for that of a
 * program that has died, and forgets it for the next request; who finds it gone would ask again. */
bool device_keep(uint32_t place);

/* These return the VMM's answer, which is a number of bytes, 0 or -errno. */
long device_read(uint32_t object, uint32_t place, uint32_t offset, void *to, uint32_t size);
long device_write(uint32_t object, uint32_t place, uint32_t offset, const void *from,
		  uint32_t size);
/* size, entry and crc are those of the image, for GANDALF_ACTION_LOAD; else size tells one request
 * from the one before it. */
long device_act(uint32_t action, uint32_t place, uint32_t size, uint32_t entry, uint32_t crc);
long device_alive(void);

#endif
