/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a hostile RTOS notices faults: guest/tests/guest.h does it.
 */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "guest.h"

#define FAULTS exception.count
#define RESUME "exception_resume"

#endif
