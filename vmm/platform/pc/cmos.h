/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's MC146818 clock, from which Linux's virtual one gets the date. */
#pragma once

#include "lib/types.h"

/* Returns the seconds from 1970-01-01 00:00 to the date that the clock shows, whose year is taken
 * to be 2000 to 2099. Reads the clock until two reads agree. */
u32 cmos_seconds(void);
