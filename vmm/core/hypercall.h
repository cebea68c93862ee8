/* SPDX-License-Identifier: Apache-2.0 */
/* Hypercalls (abi/gandalf.h): one table per kind of guest, one dispatcher. */
#ifndef GANDALF_CORE_HYPERCALL_H
#define GANDALF_CORE_HYPERCALL_H

#include "core/vm.h"

#define HYPERCALLS 33

/* Arguments in vcpu->frame; what it returns goes to EAX. */
typedef u32 (*hypercall_function)(struct vcpu *vcpu);

void hypercall(struct vcpu *vcpu, const hypercall_function functions[HYPERCALLS]);
/* GANDALF_HYPERCALL_NULL, the same for all guests. */
u32 hypercall_null(struct vcpu *vcpu);
/* Stops the guest: the pointer of its hypercall leads outside its memory. Returns 0. */
u32 hypercall_bad_address(struct vcpu *vcpu, u32 address);

#endif
