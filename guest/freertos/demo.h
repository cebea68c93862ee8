/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the demo's tasks offer to its commands.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>

/* Forgets all figures before the next one is added. */
void measurement_reset(void);

/* Begins or ends the floating-point check, which prints a line per second. */
void float_task_init(void);
void float_task_run(bool run);

#endif
