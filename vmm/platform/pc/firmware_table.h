/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the firmware tells of the CPUs: in the MADT (ACPI specification 6.5, 5.2.12) or in the MP
 * table (MultiProcessor Specification 1.4, chapter 4). Both are tables in memory that anybody may
 * have damaged: nothing is believed beyond the bytes that are there, and checksums must be right.
 */
#pragma once

#include "lib/types.h"

/* A longer table is not believed, since its checksum is that of all its bytes. This is enough for a
 * MADT with 60 CPUs and an NMI of each. */
#define FIRMWARE_TABLE_MAXIMUM 1024u

/* CPUs as tables name them: by their local APICs. */
struct firmware_cpus {
	u32 count, room;
	u8 *ids; /* room of them */
};

/* Adds a CPU, unless there is no room or it is there already. */
void firmware_add(struct firmware_cpus *cpus, u8 id);

/* Whether the bytes, as an 8-bit sum, are 0. */
bool firmware_sum_is_right(const u8 *bytes, u32 size);
