/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware's tables of CPUs. */
#pragma once

#include "platform/pc/firmware_table.h"

/* Add the CPUs that can be used of a table of size bytes that begins there; false, and nothing
 * added, if it is no such table. */
MUST_CHECK bool madt_read(const u8 *table, u32 size, struct firmware_cpus *cpus);
MUST_CHECK bool mp_table_read(const u8 *table, u32 size, struct firmware_cpus *cpus);

/* Finds the CPUs of the machine: the MADT's, or if there is none the MP table's. */
void firmware_find_cpus(struct firmware_cpus *cpus);
