/* SPDX-License-Identifier: Apache-2.0 */
/* Takes what of a vCPU's state is in this core's registers out of them, when the vCPU leaves it. */
#include "arch/ia32/arch.h"

#include "arch/ia32/fpu.h"

void processor_leave(struct vcpu *vcpu)
{
	fpu_leave(vcpu);
	switch_leave_space(vcpu);
}
