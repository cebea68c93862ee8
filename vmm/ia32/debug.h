/* SPDX-License-Identifier: Apache-2.0 */
/* The debug registers DR0 to DR7 of each vCPU (SDM vol. 3, 17.2). */
#pragma once

#include "core/vcpu.h"

/* Loads the registers of a vCPU if one of the two uses them. */
void debug_switch(const struct vcpu *from, const struct vcpu *to);
/* The guest's MOV to and from DR; numbers 4 and 5 are aliases of 6 and 7. */
void debug_write(struct vcpu *vcpu, unsigned number, u32 value);
u32 debug_read(const struct vcpu *vcpu, unsigned number);
/* A #DB in the guest: its DR6 as the CPU left it. */
void debug_exception(struct vcpu *vcpu);
