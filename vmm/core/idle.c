/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the idle vCPU: the work that can wait (housekeeping), sleep, and the end of the
 * machine; and the watch over a guest that keeps it and Linux from the core.
 */
#include "core/idle.h"

#include "arch.h"
#include "core/command.h"
#include "core/loader.h"
#include "core/log.h"
#include "core/schedule.h"
#include "lib/owner.h"
#include "platform/pc/power.h"

#define STARVATION_SECONDS 10u
/* Characters of what is told of it, in a millisecond. */
#define NOTICE_RATE 8u
#define STARVATION_TEXT " has held the CPU for 10 seconds; guests of lower priority wait\r\n"

OF_CORE static struct deadline starvation;
OF_CORE static u64 lowest_ran;  /* time stamps of Linux and the idle vCPU, at the last look */
OF_CORE static u32 looks;       /* since then at which they had had no more, and someone waited */
/* What is still to be said of a guest that starves others, and what behind that. */
OF_CORE_INITIALISED static const char *notice = "", *notice_rest = "";

/* Says the next character of it, since interrupts wait meanwhile. false: all has been said. */
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
 * The watch over a guest that keeps others from the core. It looks each second, so
 * that a switch has nothing to note for it.
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

/* What is asked for meanwhile is left for the next time. */
static void housekeeping_perform(void)
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
static _Noreturn void machine_off(void)
{
	log_line("all guests are off");
	interrupts_admit(power_off);
	log_flush();
	power_off_machine();
}

void idle_init(void)
{
	deadline_init(&starvation, starvation_expire, 0);
}

void idle_run(void)
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
