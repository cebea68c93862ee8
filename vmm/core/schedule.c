/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler: a list in the order of priority, searched from the front. With
 * at most nine vCPUs a search costs less than the upkeep of a run queue.
 */
#include "core/schedule.h"

#include "arch.h"
#include "core/command.h"
#include "core/log.h"
#include "core/trace.h"
#include "platform/pc/power.h"

#define STARVATION_SECONDS 10u
/* Characters of what is told of it, in a millisecond. */
#define NOTICE_RATE 8u
#define STARVATION_TEXT " has held the CPU for 10 seconds; guests of lower priority wait\r\n"

struct core core;
struct vcpu idle_vcpu = {.id = 0xffff, .state = VCPU_RUNNING};

/* The idle vCPU, which can always run, ends it. */
static struct vcpu *order[GANDALF_GUESTS_MAXIMUM + 1];
/* The watch over starvation; the turn of the current vCPU, if it shares its priority. */
static struct deadline starvation, turn;
static bool turn_ended; /* since the last look, if housekeeping waits */
static u64 lowest_ran;  /* time stamps of Linux and the idle vCPU, at the last look */
static u32 looks;       /* since then at which they had had no more, and someone waited */
/* What is still to be said of a guest that starves others, and what behind that. */
static const char *notice = "", *notice_rest = "";

static bool vcpu_runnable(struct vcpu *vcpu)
{
	if (vcpu->state == VCPU_HALTED && vcpu->attention)
		vcpu->state = VCPU_RUNNING;
	return vcpu->state == VCPU_RUNNING;
}

/* Says the next character of it, since interrupts wait meanwhile. false: all has been said. */
COLD static bool notice_step(void)
{
	if (*notice == '\0') {
		notice = notice_rest;
		notice_rest = "";
	}
	if (*notice == '\0')
		return false;
	log_text("%s", (char[]){*notice++, '\0'});
	return true;
}

/*
 * The watch over a guest that keeps others from the core. It looks each second, so
 * that a switch has nothing to note for it.
 */
COLD static u64 starvation_expire(UNUSED struct deadline *deadline)
{
	const struct vcpu *current = core.current;
	u64 ran = core_ran(&idle_vcpu);
	bool waits = false;

	if (notice_step())
		return rdtsc() + time_tsc_khz / NOTICE_RATE;
	for (u32 i = 0; i < core.vcpu_count; i++) {
		if (order[i]->priority == 0)
			ran += core_ran(order[i]);
		waits |= order[i]->priority < current->priority &&
			 (order[i]->vm->state == GANDALF_STATE_STARTING || vcpu_runnable(order[i]));
	}
	if (ran != lowest_ran) {
		looks = 0;
	} else if (waits && ++looks == STARVATION_SECONDS) {
		notice = current->vm->guest->name;
		notice_rest = STARVATION_TEXT;
		return rdtsc();
	}
	lowest_ran = ran;
	return rdtsc() + (u64)time_tsc_khz * 1000;
}

COLD bool schedule_waits(struct vcpu *vcpu)
{
	return vcpu != core.current && vcpu_runnable(vcpu);
}

/* Behind the others of its priority. */
COLD static u64 turn_expire(UNUSED struct deadline *deadline)
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
	current->turn = (u32)core_ran(current);
	current->attention = turn_ended = true;
	return rdtsc() + time_tsc_khz;
}

COLD void schedule_init(void)
{
	core.current = &idle_vcpu;
	order[0] = &idle_vcpu;
	deadline_init(&starvation, starvation_expire, 0);
	deadline_init(&turn, turn_expire, 0);
}

COLD void schedule_add(struct vcpu *vcpu)
{
	if (core.vcpu_count != 0 && order[core.vcpu_count - 1]->priority == vcpu->priority)
		order[core.vcpu_count - 1]->shares = vcpu->shares = core.unusual = true;
	order[core.vcpu_count++] = vcpu;
	order[core.vcpu_count] = &idle_vcpu;
}

COLD void schedule_housekeeping(u32 work)
{
	core.housekeeping |= work;
	turn_ended = false;
	core.current->attention = true;
}

/* Whether the idle vCPU's work comes first: before Linux, but not before the VMM's
 * work for it, and before RTOSes less urgent than one to be started. One that is
 * as urgent gives way when it has had its turn. */
APART COLD static bool housekeeping_precedes(const struct vcpu *vcpu)
{
	bool ended = turn_ended;
	u32 priority = 0;

	turn_ended = false;
	for (u32 i = core.vcpu_count; i-- > 0;)
		if (order[i]->vm->state == GANDALF_STATE_STARTING)
			priority = order[i]->priority;
	if (vcpu->priority == priority && priority != 0)
		return ended;
	return vcpu->priority <= priority && !vcpu->working;
}

/* The first that can run. */
static struct vcpu *schedule_pick(void)
{
	struct vcpu **at = order;
	struct vcpu *first;

	do
		first = *at++;
	while (!vcpu_runnable(first));
	if (core.housekeeping != 0 && housekeeping_precedes(first))
		return &idle_vcpu;
	return first;
}

APART COLD static void switch_unusual(const struct vcpu *from, struct vcpu *to)
{
	if (to->shares)
		deadline_set(&turn, rdtsc() + time_tsc_khz - ((u32)to->ran - to->turn));
	processor_prepare(from, to);
}

bool schedule_gives_way(void)
{
	struct vcpu *from = core.current;
	struct vcpu *to = schedule_pick();
	struct gandalf_trace_event *event;
	u64 now;

	if (to == from)
		return false;
	if (core.unusual)
		switch_unusual(from, to);
	event = trace_begin();
	event->time = now = rdtsc();
	from->ran += now;
	to->ran -= now;
	vcpu_count(to, COUNTER_switches_in);
	trace_write(event, from->id, TRACE_switch_to, to->id, from->state);
	switch_vcpu(from, to);
	return true;
}

COLD void schedule_breathe(void)
{
	interrupts_admit(breathe);
	schedule();
}

/* What is asked for meanwhile is left for the next time. */
COLD static void housekeeping_perform(void)
{
	u32 work = core.housekeeping;

	core.housekeeping = HOUSEKEEPING_BUSY;
	while (notice_step()) /* else other lines would come in the middle of it */
		;
	if (work & HOUSEKEEPING_RELEASE)
		vm_release_stopped();
	if (work & HOUSEKEEPING_START)
		vm_start_requested();
	if (work & HOUSEKEEPING_COMMAND)
		command_answer();
	core.housekeeping &= ~HOUSEKEEPING_BUSY;
}

/* What is left to say leaves the UART first. */
COLD static _Noreturn void machine_off(void)
{
	log_line("all guests are off");
	interrupts_admit(power_off);
	log_flush();
	power_off_machine();
}

COLD void schedule_idle(void)
{
	deadline_set(&starvation, rdtsc());
	for (;;) {
		housekeeping_perform();
		schedule_breathe();
		if (core.housekeeping != 0)
			continue;
		if (!vm_any_alive())
			machine_off();
		interrupts_await(sleep);
	}
}
