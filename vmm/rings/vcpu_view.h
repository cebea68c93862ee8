/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vCPU has one view where rings tell a guest's kernel from its processes.
 * two_level/vcpu_view.h is the other one.
 */
#pragma once

#include "lib/types.h"

/* Whether vcpu.watched is ever set. */
#define VCPU_MAY_BE_WATCHED true

struct vcpu_view {
};

struct view_luggage {
	u8 watched; /* vcpu.watched */
};
