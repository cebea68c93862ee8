/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lazy switch of floating-point state. A guest that is the only one to use the
 * FPU pays nothing; one that takes it over from another pays a #NM, a save and a load.
 */
#include "arch/ia32/fpu.h"

#include "lib/owner.h"
#include "lib/string.h"
#include "masked_state.h"

#define CPUID_FXSR (1u << 24)
#define CPUID_SSE (1u << 25)
enum { FCW_DEFAULT = 0x37f, MXCSR_DEFAULT = 0x1f80 };

OF_MACHINE static bool has_fxsr;

void fpu_init(void)
{
	u32 features = cpuid(1).edx;

	has_fxsr = (features & CPUID_FXSR) != 0;
	cr4_write(cr4_read() | (has_fxsr ? CR4_OSFXSR : 0) |
		  (features & CPUID_SSE ? CR4_OSXMMEXCPT : 0));
}

void fpu_reset(struct vcpu *vcpu)
{
	if (core.fpu_owner == vcpu)
		core.fpu_owner = NULL;
	memset(vcpu->fpu, 0, sizeof(vcpu->fpu));
	/* An FXSAVE image has FCW at 0, abridged tags at 4 (0: all empty), and MXCSR at 24.
	 * An FNSAVE image has FCW at 0, and full tags at 8 (all ones: empty). */
	*(u16 *)&vcpu->fpu[0] = FCW_DEFAULT;
	if (has_fxsr)
		*(u32 *)&vcpu->fpu[24] = MXCSR_DEFAULT;
	else
		*(u16 *)&vcpu->fpu[8] = 0xffff;
}

void fpu_show(struct vcpu *vcpu)
{
	vcpu->cr0 = vcpu->cr0_guest | (fpu_is_foreign(vcpu) ? CR0_TS : 0);
}

void fpu_take(struct vcpu *vcpu)
{
	struct vcpu *owner = core.fpu_owner;

	EXPECTS_MASKED();
	if (owner == vcpu)
		return;
	clts();
	if (owner != NULL) {
		if (has_fxsr)
			__asm__ volatile("fxsave %0" : "=m"(owner->fpu));
		else
			__asm__ volatile("fnsave %0" : "=m"(owner->fpu));
		owner->cr0 |= CR0_TS;
	}
	if (has_fxsr)
		__asm__ volatile("fxrstor %0" : : "m"(vcpu->fpu));
	else
		/* FNINIT comes first, since a stopped guest may have left an exception pending. */
		__asm__ volatile("fninit; frstor %0" : : "m"(vcpu->fpu));
	core.fpu_owner = vcpu;
	fpu_show(vcpu);
	vcpu_count(vcpu, COUNTER_fpu_switches);
}
