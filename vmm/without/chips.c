/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mainboard, in an image whose Linux has the real one.
 */
#include "guests/x86/pc.h"
#include "guests/x86/port.h"

void pc_devices_create(UNUSED struct pc *pc)
{
}

void pc_devices_reset(UNUSED struct pc *pc)
{
}

void pc_devices_stop(UNUSED struct pc *pc)
{
}

void pc_console(UNUSED struct pc *pc)
{
}

void pc_settle(UNUSED struct pc *pc)
{
}

void pc_interrupt(UNUSED struct pc *pc, UNUSED unsigned irq)
{
}

unsigned pc_interrupt_acknowledge(UNUSED struct pc *pc)
{
	return 0;
}

/* Ring 1 has the ports itself, so the VMM sees none of its accesses. */
u32 port_read(UNUSED struct pc *pc, UNUSED u16 port, UNUSED u32 size)
{
	return ~0u;
}

void port_write(UNUSED struct pc *pc, UNUSED u16 port, UNUSED u32 size, UNUSED u32 value)
{
}
