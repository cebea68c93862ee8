/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads out of an address space that is to be freed. It has a file of its own since tests of shadow
 * page tables link it, but not the rest of switch.c.
 */
#include "arch/ia32/switch.h"

#include "lib/owner.h"

OF_CORE u32 switch_pge;

void switch_leave_space(const struct vcpu *vcpu)
{
	if (vcpu->cr3 != 0 && core.cr3 == vcpu->cr3) {
		core.cr3 = idle_vcpu.cr3;
		cr3_write(core.cr3);
	}
}
