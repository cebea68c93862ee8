/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's control task, which a guest with a channel has. */
#ifndef MOTOR_H
#define MOTOR_H

/* Runs the control task, and never returns. */
void motor_run(void);

#endif
