/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel half of the shadow, the upper quarter of the address space. It is the same in all
 * spaces, and is filled before it is used, since an interrupt whose stack is absent would be lost.
 */
#pragma once

#include "guests/x86/shadow/part.h"

struct x86;

/* Builds the whole kernel half anew from the guest's tables. */
void kernel_sync(struct x86 *x86);
/* Fills one page again at once, when the guest has changed its entry. */
void kernel_resync_page(struct x86 *x86, u32 linear);
