/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's control task, for a guest with a channel. An image has one of two: motor.c simulates a
 * motor that follows set points, setpoint.c sends some to the motor of another guest.
 */
#ifndef CONTROL_TASK_H
#define CONTROL_TASK_H

/* How many answers follow a set point. */
#define CONTROL_REPLIES 60

/* Never returns. */
void control_loop(void);

#endif
