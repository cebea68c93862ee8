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

/* The length stands behind the signature of four bytes. ACPI's has 32 bits, the MP table's 16. */
enum { FIRMWARE_LENGTH = 4 };
#define FIRMWARE_ACPI 0xffffffffu
#define FIRMWARE_MP 0xffffu

/* Returns the length of a table of which size bytes are there, or 0: it has not that signature, is
 * not within these bytes, ends before its entries, which begin there, or its sum is wrong. */
u32 firmware_table_length(const u8 *table, u32 size, const char *signature, u32 entries,
			  u32 length_bits);
