/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the calendar, for the machine's CMOS clock and for the virtual one. */
#include "lib/date.h"

/* Years begin in March here, so that the leap day is the last day of its year. */
u32 date_days(u32 year, u32 month, u32 day)
{
	if (month < 3) {
		month += 12;
		year--;
	}
	return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month - 457) / 5 + day - 1;
}

u32 date_seconds(u32 year, u32 month, u32 day, u32 hour, u32 minute, u32 second)
{
	return (date_days(year, month, day) - DATE_DAYS_TO_1970) * DATE_DAY_SECONDS + hour * 3600 +
	       minute * 60 + second;
}
