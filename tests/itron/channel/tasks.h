/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What channel.cfg names.
 */
#ifndef TASKS_H
#define TASKS_H

#include "kernel.h"

void main_run(VP_INT exinf);
void helper_run(VP_INT exinf);
void handler_call(VP_INT exinf);
void initialize(VP_INT exinf);

#endif
