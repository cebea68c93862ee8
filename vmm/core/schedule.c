/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules vCPUs: it searches a list of all vCPUs in the order of priority from its front. With at
 * most nine guests a search costs less than the upkeep of a run queue.
 */
#include "core/schedule.h"

#include "arch.h"
#include "core/core.h"
#include "core/masked_sections.h"
#include "core/trace.h"
#include "core/trap_policy.h"
#include "lib/owner.h"
#include "message_switch.h"
#include "whole.h"

/* The vCPUs, the highest priority first. The idle vCPU, which can always run, is the last. */
OF_CORE static struct vcpu *order[PLACES_MAXIMUM + 1];
/* The end of the current vCPU's turn, if it shares its priority with others. */
OF_CORE static struct deadline turn;
OF_CORE static bool turn_ended; /* a turn has ended since housekeeping_precedes() last looked */

/* Returns whether a vCPU can run. Wakes it up if it is halted and something waits for it. */
static bool vcpu_runnable(struct vcpu *vcpu)
{
	if (vcpu->state == VCPU_HALTED && vcpu_is_notified(vcpu))
		vcpu->state = VCPU_RUNNING;
	return vcpu->state == VCPU_RUNNING;
}

bool schedule_waits(struct vcpu *vcpu)
{
	return vcpu != core.current && vcpu_runnable(vcpu);
}

/* Ends the turn of the current vCPU and puts it behind the others of its priority. */
static u64 turn_expire(UNUSED struct deadline *deadline)
{
	struct vcpu *current = core.current;
	struct vcpu **at = order;

	if (!current->shares)
		return TIME_NEVER;
	while (*at != current)
		at++;
	for (; at[1]->priority == current->priority && at[1] != &idle_vcpu; at++)
		at[0] = at[1];
	*at = current;
	turn_ends(current);
	current->turn = (u32)core_ran(current);
	turn_ended = true;
	vcpu_notify(current);
	return rdtsc() + turn_length(current);
}

void schedule_yield(void)
{
	EXPECTS_MASKED();
	if (core.current->shares)
		deadline_set(&turn, turn_expire(&turn));
}

void schedule_prefer(struct vcpu *vcpu)
{
	struct vcpu **at = order;

	EXPECTS_MASKED();
	while (*at != vcpu)
		at++;
	for (; at > order && at[-1]->priority == vcpu->priority &&
	       (at[-1]->watched & WATCH_RETURN) == 0;
	     at--)
		at[0] = at[-1];
	*at = vcpu;
}

void schedule_init(void)
{
	core.current = &idle_vcpu;
	order[0] = &idle_vcpu;
	deadline_init(&turn, turn_expire, 0);
}

void schedule_add(struct vcpu *vcpu)
{
	if (core.vcpu_count != 0 && order[core.vcpu_count - 1]->priority == vcpu->priority) {
		order[core.vcpu_count - 1]->shares = vcpu->shares = true;
		core.unusual |= SWITCH_OF_SOME;
	}
	order[core.vcpu_count++] = vcpu;
	order[core.vcpu_count] = &idle_vcpu;
}

void schedule_housekeeping(u32 work)
{
	EXPECTS_MASKED();
	core.housekeeping |= work;
	turn_ended = false;
	vcpu_notify(core.current);
}

/* Returns whether the idle vCPU's work comes before a vCPU. It comes before Linux, but not before
 * the VMM's work for Linux. If an RTOS is to be started, it also comes before less urgent RTOSes,
 * and before equally urgent ones that have had their turn. */
APART static bool housekeeping_precedes(const struct vcpu *vcpu)
{
	bool ended = turn_ended;
	u32 priority = 0;

	turn_ended = false;
	if (HOUSEKEEPING_VARIES &&
	    (core.housekeeping & (HOUSEKEEPING_START | HOUSEKEEPING_STARTING)) == 0)
		return vcpu->priority == 0 && !vcpu->working;
	for (u32 i = core.vcpu_count; i-- > 0;)
		if (order[i]->vm->state == GANDALF_STATE_STARTING)
			priority = order[i]->priority;
	if (vcpu->priority == priority && priority != 0)
		return ended;
	return vcpu->priority <= priority && !vcpu->working;
}

/* Returns the vCPU that is to have the core. */
static struct vcpu *schedule_pick(void)
{
	struct vcpu **at = order;
	struct vcpu *first;

	do
		first = *at++;
	while (!vcpu_runnable(first));
	first = turn_holder(first);
	if (core.housekeeping != 0 && housekeeping_precedes(first))
		return &idle_vcpu;
	return first;
}

/* Does what only some systems need at a switch: those with turns, breakpoints, messages between
 * cores, or vCPUs that move. */
APART static void switch_unusual(const struct vcpu *from, struct vcpu *to)
{
	if (to->shares && turn_has_others(to))
		deadline_set(&turn, rdtsc() + turn_length(to) - ((u32)to->ran - to->turn));
	whole_switches(from, to);
	processor_prepare(from, to);
	messages_switch();
}

bool schedule_gives_way(void)
{
	struct vcpu *from = core.current;
	struct vcpu *to = schedule_pick();
	struct gandalf_trace_event *event;
	u64 now;

	EXPECTS_MASKED();
	if (to == from)
		return false;
	if (core.unusual)
		switch_unusual(from, to);
	event = trace_begin(from->trace);
	event->time = now = rdtsc();
	from->ran += now;
	to->ran -= now;
	vcpu_count(to, COUNTER_switches_in);
	trace_write(event, TRACE_switch_to, to->id, from->state);
	switch_vcpu(from, to);
	return true;
}

void schedule_pause(void)
{
	interrupts_admit(idle_step);
}

/* Who gets the core back goes on in the masked section of whoever gave it. */
void schedule_admit(void)
{
	interrupts_admit(idle_step);
	if (schedule_gives_way())
		interrupts_admit(idle_step);
}
