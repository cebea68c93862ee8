/* SPDX-License-Identifier: Apache-2.0 */
/* Control, by which one guest manages the others (abi/control.h). */
#pragma once

#include "core/vm.h"

/* Refuses a hypercall of control. The first refusal is logged. Returns GANDALF_ERROR_PERMISSION. */
u32 control_refuse(struct vcpu *vcpu);
