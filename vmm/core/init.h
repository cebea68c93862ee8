/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the VMM. */
#pragma once

#include "lib/types.h"

/* From boot.S; information is a physical address. */
_Noreturn void init(u32 magic, u32 information);
