/* SPDX-License-Identifier: Apache-2.0 */
/* Hypercalls (abi/gandalf.h): one table per kind of guest, one dispatcher. */
#pragma once

#include "core/channel.h"

#define HYPERCALLS 37

/* What every kind of guest has in its table. */
#define HYPERCALLS_OF_ALL                                                     \
	[GANDALF_HYPERCALL_NULL] = hypercall_null, [GANDALF_HYPERCALL_ALIVE] = hypercall_alive, \
	[GANDALF_HYPERCALL_DOORBELL] = hypercall_doorbell,                    \
	[GANDALF_HYPERCALL_READ] = hypercall_control,                         \
	[GANDALF_HYPERCALL_WRITE] = hypercall_control,                        \
	[GANDALF_HYPERCALL_ACT] = hypercall_control

/* By the number in the frame's EAX, in the table of the vCPU's kind: an entry into the VMM.
 * Returns what the guest finds in EAX. */
u32 trap_hypercall(struct frame *frame);
/* GANDALF_HYPERCALL_NULL and _ALIVE, the same for all guests. */
u32 hypercall_null(struct vcpu *vcpu);
u32 hypercall_alive(struct vcpu *vcpu);
/* control.c: GANDALF_HYPERCALL_READ, _WRITE and _ACT. */
u32 hypercall_control(struct vcpu *vcpu);
/* Stops the guest: the pointer of its hypercall leads outside its memory. Returns 0. */
u32 hypercall_bad_address(struct vcpu *vcpu, u32 address);
