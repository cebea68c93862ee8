/* SPDX-License-Identifier: Apache-2.0 */
/* RTOS guests: their segments, hypercalls, timer and interrupts. */
#pragma once

#include "core/vm.h"

/* false if memory for it is lacking. */
MUST_CHECK bool rtos_create(struct vm *vm);
/* Rings the doorbell of an RTOS. GANDALF_ERROR_ARGUMENT: it does not run, or has no handler for
 * it. */
u32 rtos_ring(const struct vm *vm);
