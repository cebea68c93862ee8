/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders: what a guest that manages others, or the VMM's command line, wants of a guest on another
 * core. An order stands in the outbox of the core that gives it, and its answer in that of the
 * guest's core, which carries it out. Each has a number: one that differs from its answer's has not
 * been answered, and the next one is given behind that only.
 *
 * An image is written by the core that loads it, into the memory of the boot module that all cores
 * reach. So it asks first: the guest's core makes the image incomplete, which keeps the guest from
 * being started, and lets one core write. At the end that core is named no more, nobody is in the
 * middle of writing, and the checksum of what is there decides.
 */
#pragma once

#include "abi/control.h"
#include "core/vm.h"

/* The action of an order to let the core write an image, beside GANDALF_ACTION_... */
#define ORDER_IMAGE 0x100u

struct order {
	u32 number;
	u32 action;            /* GANDALF_ACTION_... or ORDER_IMAGE */
	u32 size, entry, crc;  /* of an image; else whatever tells one order from another */
};

struct order_answer {
	u32 number;            /* of the order that it answers */
	int result;            /* 0 or GANDALF_ERROR_... */
};

/* Gives an order for a guest of another core that runs or will, one of GANDALF_ACTION_... but LOAD,
 * of which nobody fetches the answer: if its guest is busy then it is carried out behind that.
 * Returns 0, or GANDALF_ERROR_BUSY if the last order for the guest is not answered. */
int order_post(const struct vm *vm, u32 action);
/* On each core, once its time runs. */
void orders_init(void);
/* On the idle vCPU: compares images that have been written with their checksums. */
void orders_attend(void);
