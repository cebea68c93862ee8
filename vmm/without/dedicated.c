/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upcalls, in an image whose Linux shares its CPU: interrupts enter the VMM first, and none comes
 * where it could not be served.
 */
#include "core/direct.h"
#include "guests/x86/pc.h"

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

void upcall_reset(UNUSED struct pc *pc)
{
}

void upcall(UNUSED struct frame *vmm)
{
}

void upcall_return(UNUSED struct pc *pc, UNUSED const u32 *words)
{
}

void upcall_learn(UNUSED struct pc *pc, UNUSED u32 vector)
{
}

void upcall_apic_write(UNUSED struct pc *pc, UNUSED u32 offset, UNUSED u32 value)
{
}
