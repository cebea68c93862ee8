/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for upcalls in an image whose Linux shares its CPU. There all interrupts enter the VMM,
 * which can always serve them, so nothing is to be done here.
 */
#include "guests/x86/x86.h"

void upcall_return(UNUSED struct x86 *x86, UNUSED const u32 *words)
{
}

void upcall_apic_write(UNUSED struct x86 *x86, UNUSED u32 offset, UNUSED u32 value)
{
}
