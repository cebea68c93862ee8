/* SPDX-License-Identifier: Apache-2.0 */
/* Each vCPU has debug registers DR0 to DR7 of its own (SDM vol. 3, 17.2). */
#pragma once

#include "core/vcpu.h"

/* The enable bits of DR7, L0 to G3. */
#define DEBUG_ENABLES 0xffu

/* Loads the vCPU's DR0 to DR3 and DR7. It must be called before a switch if this vCPU or the one
 * before it has a breakpoint enabled. */
void debug_load(const struct vcpu *vcpu);
/* Do the guest's MOV to and from a debug register. Numbers are 0 to 7; 4 and 5 are aliases of 6
 * and 7. The vCPU is the current one. */
void debug_write(struct vcpu *vcpu, unsigned number, u32 value);
u32 debug_read(const struct vcpu *vcpu, unsigned number);
/* Moves the cause of a #DB from the real DR6 to the guest's, and clears the real one. */
void debug_exception(struct vcpu *vcpu);
