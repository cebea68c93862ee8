/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates instructions that load and store control, debug and model-specific registers, of INVLPG,
 * and of cache control.
 */
#include "arch/ia32/debug.h"
#include "arch/ia32/fpu.h"
#include "core/work.h"
#include "guests/x86/emulation.h"
#include "guests/x86/masked_sections.h"
#include "platform/pc/apic.h"

static void cr0_set(struct x86 *x86, u32 value)
{
	u32 changed = x86->cr0 ^ value;

	x86->cr0 = value | CR0_ET;
	x86->vcpu->cr0_guest = (x86->vcpu->cr0_guest & ~(CR0_TS | CR0_EM | CR0_AM)) |
			      (value & (CR0_TS | CR0_EM | CR0_AM));
	if (changed & CR0_PG)
		shadow_set_paging(x86);
	work_mask(cr0);
	fpu_show(x86->vcpu);
}

static void cr4_set(struct x86 *x86, u32 value)
{
	u32 changed = x86->cr4 ^ value;

	if (value & CR4_PAE) {
		vm_stop(x86->vm, "it wants PAE, which is not offered");
		return;
	}
	x86->cr4 = value;
	if (changed & (CR4_PGE | CR4_PSE))
		shadow_flush_all(x86);
	/* Meanwhile an interrupt handler of a dedicated guest may have stored to CR4, too. */
	if (x86->vcpu->tsd != (x86->cr4 & CR4_TSD)) {
		work_mask(cr4);
		processor_hide_time(x86->vcpu, x86->cr4 & CR4_TSD);
	}
}

enum emulated emulate_mov_to_cr(const struct emulation *e)
{
	u32 value = *operand_register(e);

	if (e->decoded.reg == 0)
		cr0_set(e->x86, value);
	else if (e->decoded.reg == 2)
		e->x86->vcpu->shared->cr2 = value;
	else if (e->decoded.reg == 3)
		shadow_load(e->x86, value);
	else if (e->decoded.reg == 4)
		cr4_set(e->x86, value);
	else
		return EMULATED_FAULT;
	return EMULATED_NEXT;
}

enum emulated emulate_mov_from_cr(const struct emulation *e)
{
	const u32 values[] = {e->x86->cr0, 0, e->x86->vcpu->shared->cr2, e->x86->cr3, e->x86->cr4};

	if (e->decoded.reg >= ARRAY_SIZE(values) || e->decoded.reg == 1)
		return EMULATED_FAULT;
	*operand_register(e) = values[e->decoded.reg];
	return EMULATED_NEXT;
}

enum emulated emulate_mov_to_dr(const struct emulation *e)
{
	work_mask(debug_register);
	debug_write(e->x86->vcpu, e->decoded.reg, *operand_register(e));
	return EMULATED_NEXT;
}

enum emulated emulate_mov_from_dr(const struct emulation *e)
{
	*operand_register(e) = debug_read(e->x86->vcpu, e->decoded.reg);
	return EMULATED_NEXT;
}

enum emulated emulate_lmsw(const struct emulation *e)
{
	u16 value;

	if (!operand_16(e, &value))
		return EMULATED_JUMP;
	/* PE can be set but not cleared. */
	cr0_set(e->x86, (e->x86->cr0 & ~0xeu) | (value & 0xfu));
	return EMULATED_NEXT;
}

enum emulated emulate_clts(const struct emulation *e)
{
	cr0_set(e->x86, e->x86->cr0 & ~CR0_TS);
	return EMULATED_NEXT;
}

enum emulated emulate_invlpg(const struct emulation *e)
{
	shadow_invalidate(e->x86, operand_address(e));
	return EMULATED_NEXT;
}

/* Does nothing: the hardware writes caches back, and a guest has no say in that. */
enum emulated emulate_cache(UNUSED const struct emulation *e)
{
	return EMULATED_NEXT;
}

/* Some MSRs read as 0 and ignore writes: those that Linux 6.1 accesses without
 * expecting a fault, on the CPUs that Gandalf is for. Any other raises a #GP,
 * which Linux expects of an MSR that does not exist. */

#define MSR_TSC 0x10

/* These are PLATFORM_ID, APIC_BASE, EBL_CR_POWERON, FEATURE_CONTROL, BIOS_UPDT_TRIG,
 * BIOS_SIGN_ID; SYSENTER_CS, ESP, EIP; PERFEVTSEL0, 1 and the counters; MISC_ENABLE, DEBUGCTL.
 * APIC_BASE only ignores writes: it reads as 0, or on a dedicated CPU as the real one, which is
 * never an x2APIC's. */
static const u16 msrs_of_zeroes[] = {
	0x17, 0x1b, 0x2a, 0x3a, 0x79, 0x8b, 0x174, 0x175, 0x176, 0x186, 0x187, 0xc1, 0xc2,
	0x1a0, 0x1d9,
};

static bool msr_is_zero(u32 index)
{
	for (u32 i = 0; i < ARRAY_SIZE(msrs_of_zeroes); i++)
		if (msrs_of_zeroes[i] == index)
			return true;
	return false;
}

enum emulated emulate_rdmsr(const struct emulation *e)
{
	struct frame *frame = e->frame;

	if (frame->ecx == MSR_TSC)
		return emulate_rdtsc(e);
	if (!msr_is_zero(frame->ecx))
		return EMULATED_FAULT;
	frame->eax = frame->ecx == MSR_APIC_BASE ? e->x86->shadow.apic : 0;
	frame->edx = 0;
	return EMULATED_NEXT;
}

/* It faults in ring 1 while CR4.TSD keeps it from the process for which the kernel works. In ring 0
 * of a machine of its own the kernel could go on using it. */
enum emulated emulate_rdtsc(const struct emulation *e)
{
	u64 now = rdtsc();

	e->frame->eax = (u32)now;
	e->frame->edx = (u32)(now >> 32);
	return EMULATED_NEXT;
}

enum emulated emulate_wrmsr(const struct emulation *e)
{
	return msr_is_zero(e->frame->ecx) ? EMULATED_NEXT : EMULATED_FAULT;
}
