/* SPDX-License-Identifier: Apache-2.0 */
/* Hypercalls (abi/gandalf.h): one table per kind of guest, one dispatcher. */
#ifndef GANDALF_CORE_HYPERCALL_H
#define GANDALF_CORE_HYPERCALL_H

#include "core/vm.h"

#define HYPERCALLS 33

/* Arguments in the frame; what it returns goes to EAX. */
typedef u32 (*hypercall_function)(struct vcpu *vcpu, const struct frame *frame);

void hypercall(struct vcpu *vcpu, struct frame *frame,
	       const hypercall_function functions[HYPERCALLS]);
/* Stops the guest: the pointer of its hypercall leads outside its memory. */
void hypercall_bad_address(struct vcpu *vcpu, u32 address);

#endif
