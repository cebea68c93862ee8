/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that takes the core's interrupts itself, by gates that lead straight to it, and has its
 * controllers, timer and UART: a Linux on a dedicated CPU. Which one, core.direct says; what that
 * changes in the VMM is changed here, when the guest starts and when it has stopped.
 */
#pragma once

#include "core/vcpu.h"

/* Leaves them to the guest, at its start; on the idle vCPU. */
void direct_begin(struct vcpu *vcpu);
/* Takes them back when it has stopped. */
void direct_end(void);
