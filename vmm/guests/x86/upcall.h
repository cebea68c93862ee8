/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upcalls: an interrupt for a Linux with direct gates that comes in the middle of the
 * VMM's work for it is given to it there and then; the work goes on behind its handler.
 */
#pragma once

#include "core/vcpu.h"

struct x86;

/* Pieces of work that can be suspended at once; beyond that interrupts wait. */
#define UPCALL_DEPTH 3u

/* One of them. */
struct upcall {
	struct frame *guest; /* vcpu->frame of the entry that the work is for */
	struct frame *vmm;   /* the VMM's own registers, in the middle of it */
};

/* The VMM stacks of a new vCPU beyond its first; false if the pool is empty. */
MUST_CHECK bool upcall_create(struct vcpu *vcpu);
/* Nothing suspended, no vector known: at a start. */
void upcall_reset(struct x86 *x86);
/* A preemption point, between two steps of long work that ring 1 has asked for: lets interrupts
 * in for a moment if the guest has them enabled. Behind it the guest may have had any other work
 * of the VMM done, or have gone and not come back: so nothing is half done at one, and what was
 * found out before it is found out again. */
void upcall_point(struct x86 *x86);
/* A #GP of the VMM because an interrupt's gate leads to ring 1; its frame. Returns if no
 * interrupt is in service. */
void upcall(struct frame *vmm);
/* An IRET of the guest to the VMM's code segment, EIP in words[0]: does not return if it ends the
 * last upcall. */
void upcall_return(struct x86 *x86, const u32 *words);
/* An interrupt with this vector came while the guest was halted. */
void upcall_learn(struct x86 *x86, u32 vector);
/* The guest writes to its local APIC. */
void upcall_apic_write(struct x86 *x86, u32 offset, u32 value);
