/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch between vCPUs: descriptor tables, debug registers, address space,
 * VMM stack. General registers and segments are in the frames.
 */
#pragma once

#include "core/vcpu.h"

/* Runs to; returns when from is switched to again. */
void switch_vcpu(struct vcpu *from, struct vcpu *to);
/* Gives the vCPU a VMM stack whose first switch goes straight to its frame,
 * which is zeroed and returned. */
struct frame *switch_prepare(struct vcpu *vcpu);
/* Allocates the VMM stack; false if the pool is empty. */
bool switch_create(struct vcpu *vcpu);
/* Leaves the address space of a vCPU whose shadow is about to be freed. */
void switch_leave_space(const struct vcpu *vcpu);
