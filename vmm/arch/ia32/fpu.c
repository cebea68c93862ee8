/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches floating-point state lazily. A guest that is the only one to use the FPU pays nothing;
 * one that takes it over from another pays a #NM, a save and a load.
 */
#include "arch/ia32/fpu.h"

#include "arch/ia32/segment.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "masked_state.h"

/* CPUID has the bits of FXSR and SSE, 24 and 25, so many places above the bits of CR4 by which an
 * operating system says that it knows them. */
#define CPUID_ABOVE_CR4 15
enum { FCW_DEFAULT = 0x37f, MXCSR_DEFAULT = 0x1f80 };

/* Of this core's CPU: CR4_OSFXSR if it has FXSAVE, and CR4_OSXMMEXCPT if it has SSE. */
OF_CORE static u32 enabled;

u32 fpu_init(u32 features)
{
	enabled = features >> CPUID_ABOVE_CR4 & (CR4_OSFXSR | CR4_OSXMMEXCPT);
	return enabled;
}

void fpu_reset(struct vcpu *vcpu)
{
	u8 *image = memset(vcpu->tables->fpu, 0, sizeof(vcpu->tables->fpu));

	/* An FXSAVE image has FCW at 0, abridged tags at 4 (0: all empty), and MXCSR at 24.
	 * An FNSAVE image has FCW at 0, and full tags at 8 (all ones: empty). */
	*(u16 *)&image[0] = FCW_DEFAULT;
	if (enabled & CR4_OSFXSR)
		*(u16 *)&image[24] = MXCSR_DEFAULT;
	else
		*(u16 *)&image[8] = 0xffff;
}

void fpu_show(struct vcpu *vcpu)
{
	vcpu->cr0 = vcpu->cr0_guest | (fpu_is_foreign(vcpu) ? CR0_TS : 0);
}

/* Both name the image by a register, which takes fewer bytes than its place in the tables does. */
static APART void image_save(u8 *image)
{
	if (enabled & CR4_OSFXSR)
		__asm__ volatile("fxsave (%0)" : : "r"(image) : "memory");
	else
		__asm__ volatile("fnsave (%0)" : : "r"(image) : "memory");
}

static void image_load(const u8 *image)
{
	if (enabled & CR4_OSFXSR)
		/* Processors of AMD without the feature RstrFpErrPtrs load the addresses of the
		 * last x87 instruction and operand only with an exception that is pending (AMD64
		 * manual, vol. 5, FXRSTOR). FILD leaves the VMM's there, not another guest's. */
		__asm__ volatile("fnclex; emms; fildl (%0); fxrstor (%0)"
				 : : "r"(image) : "memory");
	else
		/* FNINIT comes first, since a stopped guest may have left an exception pending. */
		__asm__ volatile("fninit; frstor (%0)" : : "r"(image) : "memory");
}

/* The FPU gets a vCPU's state for that of its owner, if it has one. CR0 lets the VMM use it. */
static void fpu_change(struct vcpu *owner, struct vcpu *vcpu, const u8 *image)
{
	if (owner != NULL) {
		image_save(owner->tables->fpu);
		owner->cr0 |= CR0_TS;
	}
	image_load(image);
	core.fpu_owner = vcpu;
	fpu_show(vcpu);
	vcpu_count(vcpu, COUNTER_fpu_switches);
}

void fpu_take(struct vcpu *vcpu)
{
	struct vcpu *owner = core.fpu_owner;

	EXPECTS_MASKED();
	if (owner == vcpu)
		return;
	clts();
	fpu_change(owner, vcpu, vcpu->tables->fpu);
}

/* CR0 may still be that of a guest which has set EM. */
static void emulation_end(void)
{
	cr0_write(cr0_read() & ~(CR0_TS | CR0_EM));
}

void fpu_arrive(struct vcpu *vcpu, const u8 *image)
{
	EXPECTS_MASKED();
	emulation_end();
	fpu_change(core.fpu_owner, vcpu, image);
}

void fpu_leave(struct vcpu *vcpu)
{
	EXPECTS_MASKED();
	if (core.fpu_owner != vcpu)
		return;
	emulation_end();
	image_save(vcpu->tables->fpu);
	core.fpu_owner = NULL;
}
