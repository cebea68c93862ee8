/* SPDX-License-Identifier: Apache-2.0 */
/* The real MC146818 clock. */
#include "hardware/cmos.h"

#include "device/rtc.h"
#include "ia32/cpu.h"
#include "lib/string.h"

enum { INDEX = 0x70, DATA };
enum { REGISTER_B = 0x0b, B_BINARY = 0x04, B_24_HOURS = 0x02 };
#define HOUR_PM 0x80
#define CENTURY 2000u

/* Second, minute, hour, day, month, year. */
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

static u32 cmos_number(u8 value, u8 mode)
{
	return mode & B_BINARY ? value : (value >> 4) * 10u + (value & 15u);
}

u32 cmos_seconds(void)
{
	u8 first[ARRAY_SIZE(fields)], again[ARRAY_SIZE(fields)];
	u8 mode = cmos_read(REGISTER_B);
	u32 hour;

	do {
		cmos_snapshot(first);
		cmos_snapshot(again);
	} while (memcmp(first, again, sizeof(first)) != 0);
	hour = cmos_number(first[2] & (u8)~HOUR_PM, mode);
	if ((mode & B_24_HOURS) == 0)
		hour = hour % 12 + (first[2] & HOUR_PM ? 12 : 0);
	return rtc_seconds(CENTURY + cmos_number(first[5], mode), cmos_number(first[4], mode),
			   cmos_number(first[3], mode), hour, cmos_number(first[1], mode),
			   cmos_number(first[0], mode));
}
