/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the hostile ring-1 kernel notices faults: guest/tests/pc/machine.h does it.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "machine.h"

#define FAULTS trap.count
#define RESUME "trap_resume"

#endif
