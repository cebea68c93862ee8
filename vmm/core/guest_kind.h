/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of guests that an image of the VMM can run. Each is defined in its folder of guests/
 * and is in the image if that is linked (lib/unit.h); core knows a kind by what stands here
 * alone.
 */
#pragma once

#include "core/vm.h"
#include "lib/unit.h"

struct guest_kind {
	u32 number;          /* GANDALF_KIND_..., as the table has it */
	bool real_time;      /* an RTOS: its memory begins with zeros and is mapped in every address
			      * space, with its channels behind it; others may replace its image and
			      * a Linux ring it without a channel. Else it sees machine addresses */
	/* Makes what a guest of this kind needs beyond its vCPU; false if the pool is too small. */
	bool (*create)(struct vm *vm);
	/* Rings its doorbell: 0, or GANDALF_ERROR_ARGUMENT if it does not run or has no handler. */
	u32 (*ring)(const struct vm *vm);
	/* Does what vm_act() is asked for; NULL: its core is this one. */
	int (*act)(struct vm *vm, u32 action);
	/* Copy from and to its memory, at addresses as it knows them; the vCPU is the current one.
	 * false: some of it is not the guest's. NULL: such a guest cannot manage others. */
	bool (*read)(u32 from, void *to, u32 size);
	bool (*write)(u32 to, const void *from, u32 size);
};

#define GUEST_KIND(name) UNIT(guest_kinds, struct guest_kind, name)
UNITS(guest_kinds, struct guest_kind);
