/* SPDX-License-Identifier: Apache-2.0 */
/* What the VMM says of the machine and its guests, and how one asks it to act on one. */
#ifndef GANDALFCTL_GUEST_H
#define GANDALFCTL_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "table.h"

struct guest {
	uint32_t place;
	struct gandalf_guest_status status;
};

/* These are false after a sentence on standard error. */
/* An object of control.h, whole. */
bool object_read(uint32_t object, uint32_t place, void *to, uint32_t size);
bool system_read(struct gandalf_system_status *status);
bool guest_read(uint32_t place, struct guest *guest);
/* The guest of that name, and the system if it is not NULL. */
bool guest_find(const char *name, struct guest *guest, struct gandalf_system_status *system);
/* As guest_find(), and it is not the Linux that this program runs in. */
bool guest_find_other(const char *name, struct guest *guest);

/* Says why the VMM refused to read or write. Returns 1. */
int refused(long error);

const char *guest_state_name(const struct guest *guest);
const char *guest_kind_name(const struct guest *guest);
/* Whether its memory is in use. */
bool guest_lives(const struct guest *guest);

/* Has the VMM act, again as long as it is busy with the guest. Returns 0 or -errno. */
long guest_act(const struct guest *guest, uint32_t action, uint32_t size, uint32_t entry);
/* Waits while the guest is being loaded; true, unless its status cannot be read. */
bool guest_settle(struct guest *guest);

#endif
