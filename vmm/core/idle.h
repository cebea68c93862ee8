/* SPDX-License-Identifier: Apache-2.0 */
/* The idle vCPU, which runs on the boot stack. It starts and releases guests, answers commands, and
 * sleeps when there is nothing to do. */
#pragma once

#include "core/loader.h"
#include "core/schedule.h"

/* Does the part of the housekeeping in work that is about the life of guests. A guest that has
 * stopped is released before it may start again. */
static inline void housekeeping_of_guests(u32 work)
{
	if (work & HOUSEKEEPING_RELEASE)
		vm_release_stopped();
	if (work & HOUSEKEEPING_START)
		vm_start_requested();
}

/* Prepares the watch for guests that keep others from the core. Called at boot. */
void idle_init(void);
/* Runs the idle vCPU from the end of the boot on. */
_Noreturn void idle_run(void);
