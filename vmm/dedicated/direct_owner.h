/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells who takes a core's interrupts itself (core/direct.h). An image that no guest may have the
 * CPU to itself in has no_dedicated/direct_owner.h instead.
 */
#pragma once

#include "core/core.h"

/* Returns who takes the core's interrupts itself, or NULL. */
static inline struct vcpu *direct_owner(void)
{
	return core.direct;
}

/* Returns whether it is this vCPU. */
static inline bool direct_is_owner(const struct vcpu *vcpu)
{
	return core.direct == vcpu;
}

/* Returns whether all ports are the guest's: its I/O privilege level is 1. */
static inline bool direct_has_ports(const struct vcpu *vcpu)
{
	return (vcpu->eflags & EFLAGS_IOPL_1) != 0;
}
