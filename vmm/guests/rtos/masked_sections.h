/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the masked sections (arch/ia32/masked.h) of an RTOS's hypercalls. */
#pragma once

#include "arch.h"

#define MASKED_IN_RTOS(SECTION)                                                                  \
	SECTION(rtos_print, 1000,                                                                \
		"4 bytes, or 2 for the UART",                                                    \
		"an RTOS's console output")                                                      \
	SECTION(rtos_read, 1000,                                                                 \
		"4 bytes of what was typed",                                                     \
		"an RTOS reads its console")
enum { MASKED_IN_RTOS(MASKED_NUMBER) };
