/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's control task, for a guest with a channel; see motor.c. */
#ifndef MOTOR_H
#define MOTOR_H

/* Never returns. */
void motor_run(void);

#endif
