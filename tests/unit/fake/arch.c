/* SPDX-License-Identifier: Apache-2.0 */
/* The fake VMM: functions of vmm/arch, and what the simulated processor does in tests that have no
 * memory behind its registers. */
#include <stdio.h>
#include <stdlib.h>

#include "fake/asked.h"

#include "arch.h"
#include "arch/ia32/cpu.h"
#include "arch/ia32/entry.h"
#include "arch/ia32/exception.h"
#include "arch/ia32/fpu.h"
#include "arch/ia32/memory.h"
#include "arch/ia32/segment.h"
#include "arch/ia32/switch.h"

/* A test's, where it has one. */
__attribute__((common)) struct processor processor;

/* --- The processor --- */

STAND_IN void processor_set_cr3(u32 value)
{
	processor.cr3 = value;
	processor.cr3_writes++;
}

STAND_IN void processor_set_cr4(u32 value)
{
	processor.cr4 = value;
}

STAND_IN void processor_invlpg(UNUSED u32 address)
{
	processor.invlpgs++;
}

/* Nobody sleeps, in most tests. */
STAND_IN void processor_sleep(void)
{
	fprintf(stderr, "the processor sleeps\n");
	abort();
}

/* --- Entries --- */

STAND_IN void trap_interrupt(UNUSED struct frame *frame)
{
	asked.entries++;
}

STAND_IN const char *exception_name(unsigned vector)
{
	static char name[16];

	snprintf(name, sizeof(name), "#%u", vector);
	return name;
}

/* --- A vCPU's state --- */

STAND_IN bool segment_create(UNUSED struct vcpu *vcpu)
{
	return true;
}

STAND_IN void segment_reset(UNUSED struct vcpu *vcpu)
{
}

STAND_IN void segment_set_user_code(UNUSED struct vcpu *vcpu, UNUSED bool present)
{
}

STAND_IN bool switch_create(UNUSED struct vcpu *vcpu)
{
	return true;
}

STAND_IN void fpu_reset(UNUSED struct vcpu *vcpu)
{
}

STAND_IN void fpu_take(UNUSED struct vcpu *vcpu)
{
	asked.fpu_taken++;
}

STAND_IN void fpu_show(struct vcpu *vcpu)
{
	if (processor.interrupts)
		abort();
	vcpu->cr0 = vcpu->cr0_guest;
}

STAND_IN void processor_hide_time(struct vcpu *vcpu, u32 tsd)
{
	if (processor.interrupts)
		abort();
	vcpu->tsd = tsd;
	asked.hidings++;
}

/* --- Memory --- */

STAND_IN void memory_map_page(UNUSED u32 linear, UNUSED u32 physical)
{
}

STAND_IN u32 memory_map_more(UNUSED u32 physical, UNUSED u32 size)
{
	return 0;
}

STAND_IN void memory_copy(UNUSED u32 to, UNUSED u32 from, UNUSED u32 size)
{
}

STAND_IN void memory_copy_out(UNUSED u32 to, UNUSED const void *from, UNUSED u32 size)
{
}

STAND_IN void memory_zero(UNUSED u32 physical, UNUSED u32 size)
{
}
