/* SPDX-License-Identifier: Apache-2.0 */
/* The VMM's work for a vCPU of a guest with several, which an interrupt has interrupted. */
#pragma once

#include "core/core.h"
#include "whole.h"

/* Has an interrupt come amid such work, or be done. At most one has. */
static inline void interrupted_at_work(struct vcpu *vcpu, bool at_work)
{
	vcpu->working = at_work;
	works_interrupted = at_work;
}
