/* SPDX-License-Identifier: Apache-2.0 */
/* The Gregorian calendar in days and seconds. */
#pragma once

#include "lib/types.h"

#define DATE_DAY_SECONDS 86400u
#define DATE_DAYS_TO_1970 719468u

/* Days since 0000-03-01 of a date: month 1 to 12, day 1 to 31. */
u32 date_days(u32 year, u32 month, u32 day);
/* Seconds since 1970 of a date: year 1970 to 2105. */
u32 date_seconds(u32 year, u32 month, u32 day, u32 hour, u32 minute, u32 second);
