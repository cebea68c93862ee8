/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for direct gates and upcalls in an image whose Linux shares its CPU. There all
 * interrupts enter the VMM, which can always serve them, so nothing is to be done here.
 */
#include "core/direct.h"
#include "guests/x86/x86.h"

void direct_begin(UNUSED struct vcpu *vcpu)
{
}

void direct_end(void)
{
}

bool upcall_create(UNUSED struct vcpu *vcpu)
{
	return true;
}

void upcall_reset(UNUSED struct x86 *x86)
{
}

void upcall(UNUSED struct frame *vmm)
{
}

void upcall_return(UNUSED struct x86 *x86, UNUSED const u32 *words)
{
}

void upcall_learn(UNUSED struct x86 *x86, UNUSED u32 vector)
{
}

void upcall_apic_write(UNUSED struct x86 *x86, UNUSED u32 offset, UNUSED u32 value)
{
}
