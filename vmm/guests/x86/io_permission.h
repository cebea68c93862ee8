/* SPDX-License-Identifier: Apache-2.0 */
/* The ports that a guest's kernel lets its processes use, such as Linux by ioperm() and iopl(). */
#pragma once

#include "guests/x86/x86.h"

/* Returns whether the guest's task state segment permits the process that runs each of size ports,
 * from one on. size is 1, 2 or 4. */
MUST_CHECK bool io_is_permitted(struct x86 *x86, u16 port, u32 size);
