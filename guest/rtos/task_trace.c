/* SPDX-License-Identifier: Apache-2.0 */
/* Which task of an RTOS ran when: the ring. Interrupts are disabled where it is written. */
#include "task_trace.h"

#include "cpu.h"

uint32_t task_trace_on;
struct task_switch task_switches[TASK_SWITCHES];
uint32_t task_switches_next;

void task_switch_record(uint32_t task, uint32_t name)
{
	task_switches[task_switches_next++ % TASK_SWITCHES] =
		(struct task_switch){ .time = time_stamp(), .task = task, .name = name };
}
