/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half of the shadow, the upper quarter of the address space: the same in all spaces,
 * and filled before it is used, since an interrupt whose stack is absent would be lost.
 */
#pragma once

#include "guests/x86/shadow/part.h"

struct pc;

/* Builds all of it anew from the guest's tables. */
COLD void kernel_sync(struct pc *pc);
/* Fills one page again at once, whose entry the guest has changed. */
COLD void kernel_resync_page(struct pc *pc, u32 linear);
