/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floating-point check of the demo: a task that keeps a pattern in all
 * x87 and SSE registers while others preempt it, and looks whether it is still
 * there. Prints `float: ok N`, N patterns so far, or `float: WRONG at N`.
 */
#include "float_check.h"

#include "FreeRTOS.h"
#include "demo.h"
#include "task.h"
#include "terminal.h"

#define STACK_SIZE 768
#define PRIORITY 1
/* How long a pattern stays: long enough to be preempted by a tick. */
#define HOLD_MICROSECONDS 3000
/* One print for so many patterns, about one each second. */
#define PATTERNS_PER_LINE 250

static TaskHandle_t task;
static volatile bool wanted;

/* Half of the time the CPU is held, for the sake of preemption by tasks; half
 * of it slept, for the sake of other guests. */
static void hold(uint32_t round)
{
	uint64_t start = time_stamp();

	if (round % 2)
		vTaskDelay(1);
	else
		while (time_stamp() - start < time_ticks(HOLD_MICROSECONDS))
			cpu_hold();
}

static void check(void)
{
	static struct float_state state;
	uint32_t round;

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

static void run(void *unused)
{
	static struct port_floating_point area;

	(void)unused;
	vPortTaskUsesFloatingPoint(&area);
	for (;;) {
		ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
		if (wanted)
			check();
	}
}

void float_task_init(void)
{
	static StaticTask_t control;
	static StackType_t stack[STACK_SIZE];

	task = xTaskCreateStatic(run, "float", STACK_SIZE, NULL, PRIORITY, stack, &control);
}

void float_task_run(bool run_wanted)
{
	wanted = run_wanted;
	xTaskNotifyGive(task);
}
