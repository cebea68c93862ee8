/* SPDX-License-Identifier: Apache-2.0 */
/* Says what an instance of the VMM finds in the memory of the others (arch/ia32/instance.h). */
#pragma once

#include "lib/types.h"

/*
 * Copies a variable of the instance of a core that has come up, as it is at this moment: size bytes
 * of it, from an address that is the same in all instances. What is longer than a word may be half
 * of what it was and half of what it becomes. It takes some 80 instructions beside the copying;
 * interrupts are masked.
 */
void core_read(u32 index, void *to, const void *variable, u32 size);
