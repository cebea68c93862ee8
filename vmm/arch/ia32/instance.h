/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of the VMM for further cores. */
#pragma once

#include "lib/types.h"

/* Keeps the initial values of variables, before any of them has changed. */
void instance_keep(void);
/* The bytes of memory that an instance needs: whole pages. */
u32 instance_size(void);
/* Makes the instance of a core at a physical address, and what that core runs first at
 * LAYOUT_START. */
void instance_create(u32 place, u32 index);
