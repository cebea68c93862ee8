/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the life of a vCPU's processor state, for core: segments, FPU and debug registers are
 * created, reset and given up together.
 */
#include "arch/ia32/arch.h"

#include "arch/ia32/entry.h"
#include "arch/ia32/fpu.h"
#include "core/log.h"
#include "lib/string.h"

enum { CPUID_SEP = 1 << 11, CPUID_PGE = 1 << 13, CPUID_CMOV = 1 << 15 };
#define MSR_SYSENTER_CS 0x174

void processor_init(void)
{
	u32 features = cpuid(1).edx;

	trap_init();
	segment_init();
	idle_vcpu.cr0 = CR0_PG | CR0_NE | CR0_PE;
	idle_vcpu.cr3 = core.cr3 = cr3_read();
	cr4_write(cr4_read() | (features & CPUID_PGE ? CR4_PGE : 0) | fpu_init(features));
	/* SYSENTER would enter ring 0. With a CS of 0 it raises #GP instead. */
	if (features & CPUID_SEP)
		wrmsr(MSR_SYSENTER_CS, 0);
	/* The compiler was told that the CPU has CMOV. Nothing before this needs it. */
	if ((features & CPUID_CMOV) == 0)
		panic("no CMOV");
}

bool processor_create(struct vcpu *vcpu)
{
	return segment_create(vcpu);
}

void processor_reset(struct vcpu *vcpu)
{
	memset(vcpu->dr, 0, sizeof(vcpu->dr));
	vcpu->tsd = 0;
	fpu_reset(vcpu);
	segment_reset(vcpu);
}

void processor_load_tsd(const struct vcpu *vcpu)
{
	cr4_write((cr4_read() & ~CR4_TSD) | vcpu->tsd);
}

void processor_hide_time(struct vcpu *vcpu, u32 tsd)
{
	vcpu->tsd = tsd;
	core.unusual |= SWITCH_OF_SOME;
	processor_load_tsd(vcpu);
}

void processor_start(struct vcpu *vcpu)
{
	fpu_show(vcpu);
}

void processor_stop(const struct vcpu *vcpu)
{
	if (core.fpu_owner == vcpu)
		core.fpu_owner = NULL;
}
