/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the kinds of guests that an image of the VMM can run. Each is defined in its folder of
 * guests/, and an image has it if that folder is linked (lib/unit.h). core knows nothing else of a
 * kind.
 */
#pragma once

#include "core/vm.h"
#include "lib/unit.h"

struct guest_kind {
	u32 number;          /* GANDALF_KIND_..., as in the table */
	/* true for an RTOS. Its memory is zeroed before it starts, and is mapped in every address
	 * space with its channels behind it. Control may replace its image, a Linux may ring it
	 * without a channel, and it manages nobody. false for a Linux: none of this holds. */
	bool real_time;
	/* Makes what all guests of this kind have in common, before any other core runs. NULL: they
	 * have nothing. */
	void (*prepare)(void);
	/* Makes what a guest of this kind needs beyond its vCPU. Returns false if the pool is too
	 * small. */
	bool (*create)(struct vm *vm);
	/* Rings the guest's doorbell. Returns 0, or GANDALF_ERROR_ARGUMENT if the guest does not
	 * run or has no handler. */
	u32 (*ring)(const struct vm *vm);
	/* Does what vm_act() has allowed: vm_act_here(), if the guest is not another core's. */
	int (*act)(struct vm *vm, u32 action);
	/* Copy size bytes from and to linear addresses of the guest whose vCPU is the current one.
	 * They return false if some of the memory is not the guest's. Only a guest that manages
	 * others needs them. */
	bool (*read)(u32 from, void *to, u32 size);
	bool (*write)(u32 to, const void *from, u32 size);
};

#define GUEST_KIND(name) UNIT(guest_kinds, struct guest_kind, name)
UNITS(guest_kinds, struct guest_kind);
