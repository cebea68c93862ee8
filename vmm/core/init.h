/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the VMM, and the description that it was started with. */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* From boot.S; information is a physical address. */
_Noreturn void init(u32 magic, u32 information);
/* The compiled system description. */
extern struct gandalf_table system_table;
