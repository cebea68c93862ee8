/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's control task in a guest that sends set points to the motor of another one (motor.c):
 * one after the other, each when all answers to the last have come. For each it prints the last
 * answer: the time in milliseconds, and where the motor was then. It stands in for motor.c.
 */
#include "control_task.h"

#include <string.h>

#include "demo.h"
#include "terminal.h"

#define REPLY_MAXIMUM 31

static const char *const set_points[] = {"1000", "200", "-500"};

/* Receives a line, without its end. Returns false if the motor's guest has begun a new life. */
static bool line_receive(char line[REPLY_MAXIMUM + 1])
{
	uint32_t length = 0;

	for (;;) {
		if (!os_channel_receive(&line[length], 1))
			return false;
		if (line[length] == '\n')
			break;
		if (length < REPLY_MAXIMUM)
			length++;
	}
	line[length] = '\0';
	return true;
}

/* Sends a set point and prints the last answer; a new life of the motor's guest ends that early. */
static void set_point_try(const char *set_point)
{
	char reply[REPLY_MAXIMUM + 1];

	if (!os_channel_send(set_point, strlen(set_point)) || !os_channel_send("\n", 1))
		return;
	for (int32_t i = 0; i < CONTROL_REPLIES; i++)
		if (!line_receive(reply))
			return;
	terminal_print("set point %s: %s", set_point, reply);
}

void control_loop(void)
{
	for (uint32_t i = 0;; i = (i + 1) % (sizeof(set_points) / sizeof(set_points[0])))
		set_point_try(set_points[i]);
}
