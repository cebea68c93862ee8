/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration of the uITRON demo names.
 */
#ifndef TASKS_H
#define TASKS_H

#include "kernel.h"

/* For as many milliseconds the console may be full before figures are lost. */
#define SAMPLES_QUEUED 1024

void periodic_run(VP_INT exinf);
void measurement_run(VP_INT exinf);
void console_run(VP_INT exinf);
void float_run(VP_INT exinf);
void periodic_wake(VP_INT exinf);
void console_interrupt(void);

#endif
