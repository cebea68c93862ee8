/* SPDX-License-Identifier: Apache-2.0 */
/* The debug registers DR0 to DR7 of each vCPU (SDM vol. 3, 17.2). */
#pragma once

#include "core/vcpu.h"

/* DR7: L0 to G3. */
#define DEBUG_ENABLES 0xffu

/* Loads the registers of a vCPU; to be called if it or the one before uses them. */
void debug_load(const struct vcpu *vcpu);
/* The guest's MOV to and from DR; numbers 4 and 5 are aliases of 6 and 7. */
void debug_write(struct vcpu *vcpu, unsigned number, u32 value);
u32 debug_read(const struct vcpu *vcpu, unsigned number);
/* A #DB in the guest: its DR6 as the CPU left it. */
void debug_exception(struct vcpu *vcpu);
