/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind of a Linux that has the CPU to itself. An image that supports it has this file and
 * upcall.c.
 */
#include "core/guest_kind.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/linux.h"

static const struct guest_kind dedicated_kind = {
	.number = GANDALF_KIND_LINUX_DEDICATED, .create = linux_create, .ring = linux_ring,
	.read = guest_read, .write = guest_write,
};
GUEST_KIND(dedicated_kind);
