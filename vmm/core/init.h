/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the VMM, and the description that it was started with. */
#ifndef GANDALF_CORE_INIT_H
#define GANDALF_CORE_INIT_H

#include "abi/table.h"
#include "lib/types.h"

/* From boot.S; information is a physical address. */
_Noreturn void init(u32 magic, u32 information);
/* The compiled system description. */
const struct gandalf_table *init_table(void);

#endif
