/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upcalls. An interrupt for a Linux with direct gates that comes in the middle of the VMM's
 * work for it is delivered at once, and the work goes on when Linux's handler returns.
 */
#pragma once

#include "core/vcpu.h"

struct x86;

/* The number of pieces of work that can be suspended at once. Then interrupts wait. */
#define UPCALL_DEPTH 3u

/* A piece of work that is suspended. */
struct upcall {
	struct frame *guest; /* vcpu->frame of the entry that the work is for */
	struct frame *vmm;   /* the VMM's own registers, in the middle of the work */
};

/* Allocates the VMM stacks of a new vCPU beyond its first. Returns false if the pool is empty. */
MUST_CHECK bool upcall_create(struct vcpu *vcpu);
/* Forgets suspended work and vectors when a guest starts. */
void upcall_reset(struct x86 *x86);
/* Lets interrupts in for a moment if the guest has them enabled, between two steps of long work
 * that ring 1 has asked for. When this returns, the guest may have had any other work of the VMM
 * done; or it may never return. So callers leave nothing half done, and look up everything
 * again. */
void upcall_point(struct x86 *x86);
/* Delivers the interrupt whose gate leads to ring 1, and which therefore raised a #GP in the VMM.
 * vmm is the frame of that #GP. Returns only if it cannot tell which interrupt is in service. */
void upcall(struct frame *vmm);
/* Resumes the last suspended work if the guest's IRET to the VMM's code segment ends its upcall,
 * and then does not return. words are EIP, CS and EFLAGS of that IRET. */
void upcall_return(struct x86 *x86, const u32 *words);
/* Learns the 8259s' vectors from that of an interrupt that came while the guest was halted. */
void upcall_learn(struct x86 *x86, u32 vector);
/* Does the guest's write to its local APIC, and opens or closes points accordingly. */
void upcall_apic_write(struct x86 *x86, u32 offset, u32 value);
