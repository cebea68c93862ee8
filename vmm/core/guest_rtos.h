/* SPDX-License-Identifier: Apache-2.0 */
/* RTOS guests: their segments, hypercalls, timer and interrupts. */
#pragma once

#include "core/vm.h"

/* false if memory for it is lacking. */
bool rtos_create(struct vm *vm);
/* Rings its doorbell; false: the VM is no RTOS that runs and has a handler for it. */
bool rtos_ring(const struct vm *vm);
