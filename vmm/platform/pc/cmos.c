/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the machine's MC146818 clock. */
#include "platform/pc/cmos.h"

#include "arch/ia32/cpu.h"
#include "lib/date.h"
#include "lib/string.h"

enum { INDEX = 0x70, DATA };
enum { REGISTER_B = 0x0b, B_BINARY = 0x04, B_24_HOURS = 0x02 };
enum { HOUR_PM = 0x80, CENTURY = 2000 };

/* The registers of second, minute, hour, day, month and year. */
static const u8 fields[] = {0, 2, 4, 7, 8, 9};

static u8 cmos_read(u8 index)
{
	outb(INDEX, index);
	return inb(DATA);
}

static void cmos_snapshot(u8 values[ARRAY_SIZE(fields)])
{
	for (u32 i = 0; i < ARRAY_SIZE(fields); i++)
		values[i] = cmos_read(fields[i]);
}

u32 cmos_seconds(void)
{
	u8 values[ARRAY_SIZE(fields)], again[ARRAY_SIZE(fields)];
	u8 mode = cmos_read(REGISTER_B);
	u8 noon;

	do {
		cmos_snapshot(values);
		cmos_snapshot(again);
	} while (memcmp(values, again, sizeof(values)) != 0);
	noon = values[2] & HOUR_PM ? 12 : 0;
	values[2] &= (u8)~HOUR_PM;
	for (u32 i = 0; i < ARRAY_SIZE(fields) && (mode & B_BINARY) == 0; i++)
		values[i] -= (u8)((values[i] >> 4) * 6);
	if ((mode & B_24_HOURS) == 0)
		values[2] = values[2] % 12 + noon;
	return date_seconds(CENTURY + values[5], values[4], values[3], values[2], values[1],
			    values[0]);
}
