/* SPDX-License-Identifier: Apache-2.0 */
/* The fake VMM: functions of vmm/core and vmm/device. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake/asked.h"

#include "arch/ia32/cpu.h"
#include "core/channel.h"
#include "core/loan.h"
#include "core/log.h"
#include "core/policy.h"
#include "core/pull.h"
#include "core/trap_policy.h"
#include "core/relay.h"
#include "core/rate.h"
#include "core/remote.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/steal.h"
#include "core/vm.h"
#include "device/console.h"
#include "device/pic.h"
#include "lib/math.h"
#include "platform/pc/apic.h"

struct asked asked;

/* These are a test's, where it has them. */
__attribute__((common)) struct core core;
__attribute__((common)) struct vcpu vcpus[PLACES_MAXIMUM];
__attribute__((common)) u8 core_cpu_ids[GANDALF_CPUS_MAXIMUM];
__attribute__((common)) struct vcpu idle_vcpu;
__attribute__((common)) struct gandalf_trace_ring trace_rings[TRACE_RINGS];
__attribute__((common)) u32 rate_measured;

/* What the code under test must not come to. */
static void unexpected(const char *function)
{
	fprintf(stderr, "%s() is called\n", function);
	abort();
}

static void masked(const char *function)
{
	if (processor.interrupts)
		unexpected(function);
}

STAND_IN bool core_admits(void)
{
	return core.pauses && core.current->state == VCPU_RUNNING;
}

STAND_IN u64 divide_u64(u64 dividend, u32 divisor, u32 *remainder)
{
	if (remainder != NULL)
		unexpected(__func__);
	return dividend / divisor;
}

/* --- The schedule --- */

STAND_IN void schedule_pause(void)
{
}

STAND_IN void schedule_admit(void)
{
	asked.admissions++;
	if (asked.on_admission != NULL)
		asked.on_admission();
}

STAND_IN void schedule_housekeeping(u32 work)
{
	masked(__func__);
	asked.housekeeping |= work;
}

STAND_IN void schedule_add(struct vcpu *vcpu)
{
	if (vcpu != &vcpus[core.vcpu_count])
		unexpected("schedule_add of another vCPU");
	core.vcpu_count++;
}

STAND_IN bool schedule_waits(UNUSED struct vcpu *vcpu)
{
	return false;
}

STAND_IN bool schedule_gives_way(void)
{
	return false;
}

/* --- Linux's place in the schedule, where it has several vCPUs --- */

__attribute__((common)) u8 linux_first;

__attribute__((common)) u32 parts_here;

STAND_IN struct vcpu *linux_holder(struct vcpu *first)
{
	return first;
}

STAND_IN void loan_init(void)
{
}

STAND_IN void loan_begin(void)
{
	asked.loans++;
}

STAND_IN void delay_allow(bool allowed)
{
	asked.delays = allowed;
}

STAND_IN void steal_switches(UNUSED const struct vcpu *from, UNUSED const struct vcpu *to)
{
}

STAND_IN void pull_turn_ends(UNUSED struct vm *vm)
{
}

STAND_IN bool policy_is_there(u32 policy)
{
	return policy < GANDALF_PREEMPTION_POLICIES;
}

STAND_IN void trap_policy_begins(void)
{
}

STAND_IN bool trap_policy_brings_back(UNUSED const struct vm *vm)
{
	return false;
}

STAND_IN void trap_policy_departs(UNUSED struct vm *vm)
{
}

STAND_IN u32 pull_idle_cpu(UNUSED u32 cpus)
{
	return core.index;
}

/* --- Time --- */

STAND_IN void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *),
			    u32 priority)
{
	*deadline = (struct deadline){ .time = TIME_NEVER, .expire = expire,
				       .priority = priority };
	asked.deadline = deadline;
}

STAND_IN void deadline_set(struct deadline *deadline, u64 time)
{
	masked(__func__);
	if (deadline->expire == NULL)
		unexpected("deadline_set before deadline_init");
	deadline->time = time;
}

/* --- What is written down --- */

STAND_IN void trace(enum trace_type type, u32 first, u32 second)
{
	asked.traced = (struct gandalf_trace_event){ .type = (u16)type, .first = first,
						     .second = second };
}

STAND_IN void log_line(const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	vsnprintf(asked.line, sizeof(asked.line), pattern, arguments);
	va_end(arguments);
	asked.lines++;
}

STAND_IN void log_pump(void)
{
	asked.pumps++;
}

STAND_IN void report(UNUSED struct vm *vm)
{
	asked.reports++;
}

STAND_IN struct console *console_add(UNUSED struct console_mux *mux, UNUSED const char *name)
{
	static struct console console;

	return &console;
}

STAND_IN void console_finish_line(UNUSED struct console *console)
{
	masked(__func__);
}

/* --- Other cores --- */

STAND_IN void message_send(u32 to, u32 message)
{
	asked.sent[to][message]++;
}

STAND_IN void message_send_cores(u32 cores, u32 message)
{
	for (cores &= (1u << GANDALF_CPUS_MAXIMUM) - 1; cores != 0; cores &= cores - 1)
		if ((u32)__builtin_ctz(cores) != core.index)
			message_send((u32)__builtin_ctz(cores), message);
}

STAND_IN bool relay_is_idle(void)
{
	asked.output_asked++;
	return !asked.output_left;
}

STAND_IN void apic_interrupt_cores(u32 cores, u32 vector)
{
	(void)vector;
	asked.interrupted |= cores;
}

STAND_IN u32 apic_own_id(void)
{
	return core_cpu_ids[core.index];
}

STAND_IN void remote_create(UNUSED struct vm *vm)
{
	unexpected(__func__);
}

/* --- Guests --- */

/* Of a guest that is whole: each of its parts names the other. */
static struct vcpu *first_of(struct vm *which)
{
	if (which->vcpus->vm != which)
		unexpected("a function of guests for another guest");
	return which->vcpus;
}

STAND_IN void vm_stop(struct vm *which, const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	vsnprintf(asked.stop_reason, sizeof(asked.stop_reason), pattern, arguments);
	va_end(arguments);
	first_of(which)->state = VCPU_OFF;
	asked.stops++;
}

STAND_IN void vm_reboot(struct vm *which)
{
	first_of(which)->state = VCPU_OFF;
	asked.reboots++;
}

STAND_IN void vm_power_off(struct vm *which)
{
	first_of(which)->state = VCPU_OFF;
	asked.power_offs++;
}

STAND_IN void vm_halt(struct vm *which)
{
	which->state = GANDALF_STATE_OFF;
	which->unreleased = true;
	if (which->vcpus != NULL)
		which->vcpus->state = VCPU_OFF;
	asked.halts++;
}

STAND_IN void vm_fall(struct vm *which)
{
	which->state = GANDALF_STATE_STOPPED;
	asked.falls++;
}

STAND_IN void vm_pause_with(struct vm *which, bool paused)
{
	which->state = paused ? GANDALF_STATE_PAUSED : GANDALF_STATE_RUNNING;
}

STAND_IN void vm_request_start(struct vm *which)
{
	if (which->state == GANDALF_STATE_RUNNING)
		unexpected("vm_request_start of a guest that runs");
	which->state = GANDALF_STATE_STARTING;
	asked.starts++;
}

STAND_IN int vm_act_here(UNUSED struct vm *which, UNUSED u32 action)
{
	unexpected(__func__);
	return 0;
}

STAND_IN bool vm_is_alive(const struct vm *which)
{
	return which->state != GANDALF_STATE_OFF && which->state != GANDALF_STATE_STOPPED;
}

STAND_IN void vm_show_life(UNUSED struct vm *which)
{
	asked.lives++;
}

STAND_IN void channel_tell(UNUSED const struct vm *vm)
{
	asked.told++;
}

STAND_IN void channel_renew(UNUSED const struct vm *vm)
{
	asked.renewed++;
}

STAND_IN void channel_ring_peers(UNUSED const struct vm *vm)
{
	if (asked.renewed == 0)
		unexpected("channel_ring_peers before channel_renew");
	asked.rung++;
}

/* --- Chips --- */

STAND_IN int pic_pending(UNUSED const struct pic_pair *pic)
{
	return -1;
}

STAND_IN int pic_acknowledge(UNUSED struct pic_pair *pic)
{
	unexpected(__func__);
	return -1;
}
