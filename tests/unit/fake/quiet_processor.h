/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulated processor does beyond its registers, where a test has no
 * memory behind them and nobody sleeps.
 */
#ifndef GANDALF_UNIT_QUIET_PROCESSOR_H
#define GANDALF_UNIT_QUIET_PROCESSOR_H

#include "arch/ia32/cpu.h"

struct processor processor;

void processor_set_cr3(u32 value)
{
	processor.cr3 = value;
	processor.cr3_writes++;
}

void processor_set_cr4(u32 value)
{
	processor.cr4 = value;
}

void processor_invlpg(u32 address)
{
	(void)address;
	processor.invlpgs++;
}

#endif
