/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores, in an image for one.
 */
#include "core/cores.h"
#include "platform/pc/apic.h"
#include "platform/pc/cmos.h"

void cores_keep(void)
{
}

u32 cores_start(void)
{
	return 0;
}

bool cores_attend(void)
{
	return true;
}

/* Of a guest that had the CPU to itself and has stopped. */
void cores_interrupt(UNUSED u32 vector)
{
	apic_end_of_interrupt();
}

void remote_create(UNUSED struct vm *vm)
{
}

u32 cores_seconds(void)
{
	return cmos_seconds();
}
