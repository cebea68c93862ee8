/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration of the motor's control task names.
 */
#ifndef TASKS_H
#define TASKS_H

#include "kernel.h"

void control_run(VP_INT exinf);

#endif
