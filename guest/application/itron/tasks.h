/* SPDX-License-Identifier: 0BSD */
/*
 * What system.cfg names.
 */
#ifndef TASKS_H
#define TASKS_H

#include "kernel.h"

void beat_run(VP_INT exinf);
void beat_wake(VP_INT exinf);

#endif
