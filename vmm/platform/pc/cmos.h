/* SPDX-License-Identifier: Apache-2.0 */
/* The real MC146818 clock, where Linux's virtual one gets the date from. */
#pragma once

#include "lib/types.h"

/* Seconds since 1970-01-01, as the clock shows it. Takes two reads that agree. */
u32 cmos_seconds(void);
