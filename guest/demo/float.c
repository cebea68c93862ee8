/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floating-point check of the demo: a task that keeps a pattern in all
 * x87 and SSE registers while others preempt it, and looks whether it is still
 * there. Prints `float: ok N`, N patterns so far, or `float: WRONG at N`.
 */
#include "float_check.h"

#include "cpu.h"
#include "demo.h"
#include "terminal.h"

/* How many milliseconds a pattern stays: long enough to be preempted by a tick. */
#define HOLD_MILLISECONDS 3
/* One print for so many patterns, about one each second. */
#define PATTERNS_PER_LINE 250

static volatile bool wanted;

/* Half of the time the CPU is held, for the sake of preemption by tasks; half
 * of it slept, for the sake of other guests. */
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
