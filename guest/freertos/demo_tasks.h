/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of the FreeRTOS demo (demo.c), for a program that has others beside them. */
#ifndef DEMO_TASKS_H
#define DEMO_TASKS_H

/* The least priority among them, and one that leaves all of them undisturbed. */
#define DEMO_BACKGROUND_PRIORITY 1

/* Creates the tasks, before the scheduler starts. */
void demo_tasks_create(void);

#endif
