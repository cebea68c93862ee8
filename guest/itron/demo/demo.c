/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uITRON demo: how fast does a real-time task run beside Linux, or on a bare PC? Its line and
 * its commands are those of guest/demo.
 *
 * A cyclic handler wakes `periodic`, the most urgent task, every millisecond. It sends each figure
 * through a data queue to `measurement`, which prints them. `console` executes what is typed.
 */
#include "board.h"
#include "commands.h"
#include "demo.h"
#include "kernel_id.h"
#include "tasks.h"
#include "terminal.h"

/* The data queue holds pointers to these: those that it holds, the one that is being sent and
 * the one that is being looked at. */
#define SAMPLES (SAMPLES_QUEUED + 2)

const bool measurement_anew = false;

const struct command commands[] = {
	COMMANDS_COMMON,
	{ 0 },
};

/* --- What the shared part of the demo needs --- */

uint32_t os_time_stamp_khz(void)
{
	return board_time_stamp_khz();
}

uint64_t os_timer_expiry(void)
{
	return board_timer_expiry();
}

uint32_t os_tick(void)
{
	SYSTIM now;

	get_tim(&now);
	return now;
}

void os_tick_sleep(void)
{
	dly_tsk(0);
}

void os_interrupts_disable(void)
{
	loc_cpu();
}

void os_interrupts_enable(void)
{
	unl_cpu();
}

void os_output_lock(void)
{
	wai_sem(SEM_OUTPUT);
}

void os_output_unlock(void)
{
	sig_sem(SEM_OUTPUT);
}

size_t os_console_read(char *to, size_t size)
{
	return board_console_read(to, size);
}

void os_key_wait(void)
{
	FLGPTN pattern;

	wai_flg(FLG_KEY, 1, TWF_ORW, &pattern);
}

void os_float_task_wake(void)
{
	wup_tsk(TSK_FLOAT);
}

/* --- Handlers and tasks --- */

void console_interrupt(void)
{
	iset_flg(FLG_KEY, 1);
}

void periodic_wake(VP_INT exinf)
{
	(void)exinf;
	iwup_tsk(TSK_PERIODIC);
}

void periodic_run(VP_INT exinf)
{
	static struct sample samples[SAMPLES];
	struct sample *sample = samples;
	uint32_t before = 0;

	(void)exinf;
	for (;;) {
		uint64_t now;
		uint32_t tick;

		slp_tsk();
		now = board_time_stamp();
		can_wup(TSK_SELF); /* ticks that came at once are one activation */
		tick = os_tick();
		*sample = sample_take(now, before ? tick - before - 1 : 0);
		before = tick;
		if (psnd_dtq(DTQ_SAMPLES, sample))
			measurement_lose();
		else if (++sample == samples + SAMPLES)
			sample = samples;
	}
}

void measurement_run(VP_INT exinf)
{
	(void)exinf;
	for (;;) {
		VP_INT sample;

		rcv_dtq(DTQ_SAMPLES, &sample);
		measurement_add(sample);
	}
}

/* Lets other tasks and other guests run while the console is full. */
static void console_wait_tick(void)
{
	dly_tsk(0);
}

void console_run(VP_INT exinf)
{
	(void)exinf;
	board_console_wait = console_wait_tick;
	terminal_print("uITRON 4.0, tick 1 ms, time stamp counter %u kHz", board_time_stamp_khz());
	terminal_run(command_execute);
}

void float_run(VP_INT exinf)
{
	(void)exinf;
	for (;;) {
		slp_tsk();
		float_task_check();
	}
}
