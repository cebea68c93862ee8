/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upcalls, in an image whose Linux shares its CPU: interrupts enter the VMM first, and none comes
 * where it could not be served.
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
