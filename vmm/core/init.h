/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the VMM. */
#pragma once

#include "lib/types.h"

/* Starts the VMM. boot.S calls it with the multiboot loader's magic number and the physical address
 * of its information. */
_Noreturn void init(u32 magic, u32 information);
