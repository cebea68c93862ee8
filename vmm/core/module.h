/* SPDX-License-Identifier: Apache-2.0 */
/* The boot module, which is found, checked, and kept out of the guests' memory. */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* Finds the module by the boot loader's information, whose physical address is given, and copies
 * its table. Moves the module to free memory if it overlaps the memory of a guest, the pool or the
 * VMM. Panics with a sentence if the module or the machine's memory is not as it should be. */
void module_load(struct gandalf_table *table, u32 magic, u32 information);
/* The physical address of the module, to which the offsets of images are added. */
extern u32 module_base;

/* The compiled system description, which module_load() has checked. */
extern struct gandalf_table system_table;
