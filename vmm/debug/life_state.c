/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a vCPU that lives on behind the end of its VM, or goes on although that is paused. */
#include "life_state.h"

#include "core/log.h"
#include "core/vcpu.h"
#include "core/vm.h"

static bool state_fits(const struct vcpu *vcpu)
{
	switch (vcpu->vm->state) {
	case GANDALF_STATE_RUNNING:
		return vcpu->state == VCPU_RUNNING || vcpu->state == VCPU_HALTED;
	case GANDALF_STATE_PAUSED:
		return vcpu->state == VCPU_PAUSED;
	default:
		return vcpu->state == VCPU_OFF;
	}
}

void life_check(const struct vcpu *vcpu)
{
	if (!state_fits(vcpu))
		panic("vCPU %x is in state %u, and its VM in state %u", vcpu->id, vcpu->state,
		      vcpu->vm->state);
}
