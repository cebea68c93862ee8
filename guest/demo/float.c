/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floating-point check of the demo. A task keeps a pattern in all x87 and SSE registers while
 * others preempt it, and looks whether it is still there. It prints `float: ok N` for N patterns so
 * far, or `float: WRONG at N`.
 */
#include "float_check.h"

#include "cpu.h"
#include "demo.h"
#include "terminal.h"

/* A pattern stays for so many milliseconds, long enough to be preempted by a tick. */
#define HOLD_MILLISECONDS 3
/* A line is printed for so many patterns, which is about one each second. */
#define PATTERNS_PER_LINE 250

static volatile bool wanted;

/* Holds a pattern. Half of that time the task runs, so that others preempt it, and half of it the
 * task sleeps, so that other guests run. */
static void hold(uint32_t round)
{
	uint64_t start = time_stamp();

	if (round % 2)
		os_tick_sleep();
	else
		while (time_stamp() - start < os_time_stamp_khz() * HOLD_MILLISECONDS)
			cpu_hold();
}

void float_task_check(void)
{
	static struct float_state state;
	uint32_t round;

	if (!wanted)
		return;
	for (round = 1; wanted; round++) {
		float_load(&state, (uint32_t)time_stamp());
		hold(round);
		if (!float_check(&state)) {
			terminal_print("float: WRONG at %u", round);
			wanted = false;
		} else if (round % PATTERNS_PER_LINE == 0) {
			terminal_print("float: ok %u", round);
		}
	}
	terminal_print("float: off");
}

void float_task_run(bool run_wanted)
{
	wanted = run_wanted;
	os_float_task_wake();
}
