/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads control to guests on other cores (core/elsewhere.c): which objects of abi/control.h are
 * another core's, so that the right one answers whichever core is asked. An image for one core has
 * one_core/elsewhere.h instead.
 */
#pragma once

#include "core/core.h"
#include "core/instances.h"
#include "core/notice.h"
#include "core/order.h"
#include "core/relay.h"
#include "core/schedule.h"

/* Has what core 0 has in this variable of rate.h, the frequency that it has measured, copied there.
 * Returns false on that core. Interrupts are masked. */
static inline bool elsewhere_tells_rate(u32 *rate)
{
	if (core.index == 0)
		return false;
	core_read(0, rate, rate, sizeof(*rate));
	return true;
}

/* Whether a guest's life is another core's to decide, so that the functions below are for it. */
static inline bool vm_is_elsewhere(const struct vm *vm)
{
	return vm->guest->cpu != core.index;
}

/*
 * Does GANDALF_ACTION_START to GANDALF_ACTION_LOAD. Returns what the guest's core has answered, or
 * GANDALF_ERROR_BUSY until it has: the same call is to be made again. For actions other than LOAD
 * size is any number that tells this request from an earlier one of which nobody has fetched the
 * answer. If that core has no VMM, or none any more, it is GANDALF_ERROR_CPU. Interrupts are
 * masked.
 */
int elsewhere_act(struct vm *vm, u32 action, u32 size, u32 entry, u32 crc);
/* Writes to the image or types on the console of such a guest. Returns how many bytes were taken,
 * or GANDALF_ERROR_...; GANDALF_ERROR_BUSY as above. Interrupts are masked. */
int elsewhere_write(struct vm *vm, u32 object, u32 offset, const u8 *bytes, u32 size);
/* For a guest of this core whose image is about to be written here, from offset on: no other core
 * may any more. Returns 0, GANDALF_ERROR_BUSY while one is in the middle of that, or
 * GANDALF_ERROR_IMAGE amid an image of which another core may have written what is in front.
 * Interrupts are masked. */
MUST_CHECK int elsewhere_takes_back(const struct vm *vm, u32 offset);
/* For a guest of this core: whether the last one to write its image from the beginning was another
 * core, or nobody, so that there is none that could be said to be complete here. Interrupts are
 * masked. */
bool elsewhere_loads(const struct vm *vm);
/* On the idle vCPU: tells the others of a guest of this core that has been started, unless it has
 * run and ended meanwhile. If it keeps the CPU, notice.c tells of it within a second, and core 0
 * does not switch the machine off before: this idle vCPU is amid work. */
static inline void elsewhere_learns(const struct vm *vm)
{
	schedule_admit();
	if (vm->state == GANDALF_STATE_RUNNING)
		notice_write(vm, GANDALF_STATE_RUNNING);
}

/* On the idle vCPU, before any Linux: does what other cores wait for. Both are asked for by
 * housekeeping: a core whose Linux never halts does them all the same. */
static inline void elsewhere_attend(void)
{
	orders_attend();
	relay_print_logs();
}
