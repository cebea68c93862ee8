/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the FreeRTOS demo: its tasks (demo.c) and no others. */
#include "FreeRTOS.h"
#include "demo_tasks.h"
#include "task.h"

void main(void)
{
	demo_tasks_create();
	vTaskStartScheduler();
}
