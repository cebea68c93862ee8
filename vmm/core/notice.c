/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what this core says of its guests, for the others: their states whenever they have
 * changed, and their counters each second.
 */
#include "core/notice.h"

#include "arch.h"
#include "core/core.h"
#include "core/message.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "core/time.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "whole.h"

#define NOTICE_MILLISECONDS 1000u

OF_CORE static struct deadline notices_due;
OF_CORE static u32 next; /* guest of whom the counters are told next */

/* What is told of a guest with several vCPUs is what its first one's core knows. */
void notice_write(const struct vm *vm, u32 state)
{
	volatile struct guest_notice *notice = &guest_notices_of(core.index)[vm->index];

	if (vm_is_part(vm))
		return;
	notice->fault_restarts = vm->fault_restarts;
	notice->started = vm->started;
	notice->ran = core_ran(vm->vcpus);
	memcpy((void *)notice->counters, vm->vcpus->counters, sizeof(vm->vcpus->counters));
	notice->state = state;
	message_send_cores(~0u, MESSAGE_STATE + vm->index);
}

/* Another core than core 0 tells a state when all that its guests have put out is on its way. That
 * is asked for last, since it takes long. */
static bool notice_is_due(const struct vm *vm, u32 state)
{
	return !vm_is_part(vm) && guest_notices_of(core.index)[vm->index].state != state &&
	       (core.index == 0 || relay_is_idle());
}

/* A state that comes while one is looked at is told the next time. */
static void notices_publish(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++) {
		const struct vm *vm = vcpus[i].vm;
		u32 state = vm->state;

		if (notice_is_due(vm, state))
			notice_write(vm, state);
		schedule_admit();
	}
}

void notice_give_up(void)
{
	for (u32 i = 0; i < core.vcpu_count; i++) {
		whole_ends(vcpus[i].vm);
		notice_write(vcpus[i].vm, GANDALF_STATE_STOPPED);
	}
}

/* One guest at a time, since interrupts wait. */
static u64 notices_expire(UNUSED struct deadline *deadline)
{
	if (core.vcpu_count != 0) {
		next = (next + 1) % core.vcpu_count;
		notice_write(vcpus[next].vm, vcpus[next].vm->state);
	}
	return rdtsc() + (u64)time_tsc_khz * (NOTICE_MILLISECONDS / GANDALF_GUESTS_MAXIMUM);
}

void notice_init(void)
{
	deadline_init(&notices_due, notices_expire, 0);
	deadline_set(&notices_due, rdtsc());
}

bool notice_attend(void)
{
	notices_publish();
	return core.index == 0;
}
