/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the idle vCPU asks for between its steps, for tests in which nobody waits for it: it never
 * gives way, and never has so little to do that the processor sleeps.
 */
#pragma once

#include "unit.h"

#include "arch.h"
#include "core/schedule.h"
#include "core/migration.h"

bool schedule_gives_way(void)
{
	return false;
}

void schedule_breathe(void)
{
}

void seats_settle(void)
{
}

void processor_sleep(void)
{
	fail();
}
