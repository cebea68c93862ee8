/* SPDX-License-Identifier: Apache-2.0 */
/* What the idle vCPU does for vCPUs that are seated anew, in tests in which none is: nothing. Only
 * images for guests with several vCPUs have it, and so the fake VMM has not. */
#pragma once

#include "arch.h"
#include "core/migration.h"
#include "core/schedule.h"

void seats_settle(void)
{
}
