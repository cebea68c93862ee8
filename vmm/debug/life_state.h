/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the state of a vCPU is that of its VM (release/life_state.h). */
#pragma once

struct vcpu;

/* Panics if the vCPU is not off although its VM has ended, or not paused although that is. */
void life_check(const struct vcpu *vcpu);

#define EXPECTS_LIFE(vcpu) life_check(vcpu)
