/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of a vCPU, listed in abi/control.h. */
#pragma once

#include "abi/control.h"

enum counter {
#define X(name, text) COUNTER_##name,
	GANDALF_COUNTER_LIST(X)
#undef X
	COUNTERS
};
