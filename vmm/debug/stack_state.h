/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the current vCPU's VMM stack has room for any interrupt (release/stack_state.h). What
 * is below the boot stack is no unmapped page, but variables.
 */
#pragma once

#include "core/vcpu.h"

/* Panics if more bytes than this are used: half of the boot stack, which is the smallest. */
#define STACK_USED_MAXIMUM 2048u

void stack_check(const struct vcpu *vcpu);

#define EXPECTS_STACK(vcpu) stack_check(vcpu)
