/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps each vCPU's debug registers. A guest may set a breakpoint on an address of the VMM, and
 * reads it back, but it is never enabled in the real registers: it would stop the VMM, or tell the
 * guest what the VMM does.
 */
#include "arch/ia32/debug.h"

#include "core/core.h"

/* DR7_GUEST lacks the general-detect bit (13), which guests do not get. */
#define DR7_FIXED 0x400u
#define DR7_GUEST 0xffff03ffu
#define DR6_FIXED 0xffff0ff0u
#define DR6_STATUS 0xe00fu

static u32 dr7_real(const struct vcpu *vcpu)
{
	u32 value = (vcpu->dr[7] & DR7_GUEST) | DR7_FIXED;

	for (unsigned i = 0; i < 4; i++)
		if (vcpu->dr[i] >= GANDALF_BASE - 8)
			value &= ~(3u << 2 * i);
	return value;
}

void debug_load(const struct vcpu *vcpu)
{
	dr0_write(vcpu->dr[0]);
	dr1_write(vcpu->dr[1]);
	dr2_write(vcpu->dr[2]);
	dr3_write(vcpu->dr[3]);
	dr7_write(dr7_real(vcpu));
}

/* Both functions below turn numbers 4 and 5, which are other names of 6 and 7, into these. */

void debug_write(struct vcpu *vcpu, unsigned number, u32 value)
{
	number |= number >> 1 & 2;
	vcpu->dr[number] = value;
	core.unusual |= (vcpu->dr[7] & DEBUG_ENABLES) != 0;
	if (number != 6)
		debug_load(vcpu);
}

u32 debug_read(const struct vcpu *vcpu, unsigned number)
{
	number |= number >> 1 & 2;
	if (number == 6)
		return (vcpu->dr[6] & DR6_STATUS) | DR6_FIXED;
	if (number == 7)
		return vcpu->dr[7] | DR7_FIXED;
	return vcpu->dr[number];
}

void debug_exception(struct vcpu *vcpu)
{
	vcpu->dr[6] |= dr6_read() & DR6_STATUS;
	dr6_write(DR6_FIXED);
}
