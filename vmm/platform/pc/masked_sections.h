/* SPDX-License-Identifier: Apache-2.0 */
/* Names the masked section (arch/ia32/masked.h) in which the machine ends. */
#pragma once

#include "arch/ia32/masked.h"

#define MASKED_IN_PLATFORM(SECTION)                                                              \
	SECTION(power_off, UNBOUNDED,                                                            \
		"no guest runs any more",                                                        \
		"the end of the last guest")
enum { MASKED_IN_PLATFORM(MASKED_NUMBER) };
