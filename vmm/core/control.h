/* SPDX-License-Identifier: Apache-2.0 */
/* Control: a guest that manages others (abi/control.h). */
#pragma once

#include "core/vm.h"

/* Refuses a hypercall of control; the first time the VMM's console tells of it. Returns the
 * error for the guest. */
u32 control_refuse(struct vcpu *vcpu);
