/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the life of the idle vCPU. It does work that can wait (housekeeping), sleeps, and switches
 * the machine off. This file also watches for a guest that keeps the idle vCPU and Linux from the
 * core.
 */
#include "core/idle.h"

#include "arch.h"
#include "core/command.h"
#include "core/log.h"
#include "core/masked_sections.h"
#include "core/notice.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "lib/owner.h"
#include "platform.h"

#define STARVATION_SECONDS 10u
/* Characters of the notice of starvation that are logged in a millisecond. */
#define NOTICE_RATE 8u
#define STARVATION_TEXT " has held the CPU for 10 seconds; guests of lower priority wait\r\n"

OF_CORE static struct deadline starvation;
OF_CORE static u64 lowest_ran;  /* for how long Linux and the idle vCPU had run at the last look */
OF_CORE static u32 looks;       /* looks since they last ran at which somebody waited */
/* What is still to be logged of a guest that starves others, and what follows it. */
OF_CORE_INITIALISED static const char *notice = "", *notice_rest = "";

/* Logs one character of the notice, and no more, since interrupts wait meanwhile. Returns false if
 * none was left. */
static bool notice_step(void)
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
 * Looks once a second whether a guest has kept all of lower priority from the core for
 * STARVATION_SECONDS. A switch of vCPUs therefore has nothing to note for this watch.
 */
static u64 starvation_expire(UNUSED struct deadline *deadline)
{
	const struct vcpu *current = core.current;
	u64 ran = core_ran(&idle_vcpu);
	bool waits = false;

	if (notice_step())
		return rdtsc() + time_tsc_khz / NOTICE_RATE;
	for (u32 i = 0; i < core.vcpu_count; i++) {
		if (vcpus[i].priority == 0)
			ran += core_ran(&vcpus[i]);
		waits |= vcpus[i].priority < current->priority &&
			 (vcpus[i].vm->state == GANDALF_STATE_STARTING ||
			  schedule_waits(&vcpus[i]));
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

/* Does the work that waits. Work that is asked for meanwhile is left for the next call. If an RTOS
 * is to be started while the VMM's work for a vCPU is interrupted, all else is left, too: vCPUs of
 * the same Linux share what that work has half done (core/turn.c). */
static void housekeeping_perform(void)
{
	u32 work = core.housekeeping;

	if (turn_is_at_work()) {
		vm_start_requested();
		return;
	}
	core.housekeeping = HOUSEKEEPING_BUSY;
	if (HOUSEKEEPING_VARIES)
		core.housekeeping |= (work & HOUSEKEEPING_START) << 3;
	while (notice_step()) /* otherwise other lines would come in its middle */
		;
	housekeeping_of_guests(work);
	if (work & HOUSEKEEPING_COMMAND)
		command_answer();
	core.housekeeping &= ~(HOUSEKEEPING_BUSY | HOUSEKEEPING_STARTING);
}

/* Switches the machine off when all output has left the UART. */
static _Noreturn void machine_off(void)
{
	log_line("all guests are off");
	interrupts_admit(power_off);
	log_flush();
	power_off_machine();
}

/* Interrupts are let in on the way: a guest may have been started meanwhile. */
static bool machine_is_done(void)
{
	return notice_attend() && !vm_any_alive() && relay_is_idle() && !vm_any_alive();
}

void idle_init(void)
{
	trace_prepare(idle_vcpu.trace, idle_vcpu.id);
	deadline_init(&starvation, starvation_expire, 0);
}

NAMED void idle_run(void)
{
	deadline_set(&starvation, rdtsc());
	for (;;) {
		bool done;

		housekeeping_perform();
		schedule_admit();
		done = machine_is_done();
		if (core.housekeeping != 0)
			continue;
		if (done)
			machine_off();
		interrupts_await(sleep);
	}
}
