/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells who takes a core's interrupts itself, in an image in which no guest has the CPU to itself:
 * nobody. So what depends on it is not in the image. dedicated/direct_owner.h is the other one.
 */
#pragma once

#include "core/vcpu.h"

static inline struct vcpu *direct_owner(void)
{
	return NULL;
}

static inline bool direct_is_owner(UNUSED const struct vcpu *vcpu)
{
	return false;
}

static inline bool direct_has_ports(UNUSED const struct vcpu *vcpu)
{
	return false;
}
