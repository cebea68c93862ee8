/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the Gregorian calendar in days and seconds. */
#pragma once

#include "lib/types.h"

#define DATE_DAY_SECONDS 86400u
#define DATE_DAYS_TO_1970 719468u

/* Returns the days from 0000-03-01 to a date. month is 1 to 12, day is 1 to 31. */
u32 date_days(u32 year, u32 month, u32 day);
/* Returns the seconds from 1970-01-01 00:00:00 to a date and time. year is 1970 to 2105: later
 * ones do not fit. */
u32 date_seconds(u32 year, u32 month, u32 day, u32 hour, u32 minute, u32 second);
