/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers a vCPU's counters, which abi/control.h lists. */
#pragma once

#include "abi/control.h"

enum counter {
#define X(name, text) COUNTER_##name,
	GANDALF_COUNTER_LIST(X)
#undef X
	COUNTERS
};
