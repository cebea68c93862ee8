/* SPDX-License-Identifier: Apache-2.0 */
/* The boot module: finding it, checking it, keeping it out of guests' memory. */
#pragma once

#include "abi/table.h"
#include "lib/types.h"

/* Copies the table of the module that the boot loader's information (physical
 * address) names; the module moves behind all guest memory if it overlaps it.
 * Whatever is wrong is said, and the VMM stops. */
void module_load(struct gandalf_table *table, u32 magic, u32 information);
/* Physical address of the module, for the images in it. */
extern u32 module_base;

/* The compiled system description, as module_load() has found it good. */
extern struct gandalf_table system_table;
