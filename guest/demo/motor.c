/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's control task. A motor's position, which the task simulates, follows set points that
 * come through a channel. Each line that is received is a set point, a whole number. In each of the
 * CONTROL_REPLIES periods after it, a line with the time in milliseconds and the position goes
 * back.
 */
#include "control_task.h"

#include "demo.h"

#define LINE_MAXIMUM 15
#define CONTROL_PERIOD 5 /* in milliseconds */
/* The motor is a second-order system in fixed point. These change its speed in a period. */
#define STIFFNESS 12
#define DAMPING 5
#define SCALE 256

static int32_t position, speed, set_point;
static char line[LINE_MAXIMUM + 1];
static uint32_t length;

/* Writes a number and what ends it. Returns where that ends. */
static char *number_write(char *to, int32_t value, char end)
{
	char digits[10];
	int count = 0;
	uint32_t rest = value < 0 ? 0U - (uint32_t)value : (uint32_t)value;

	if (value < 0)
		*to++ = '-';
	do
		digits[count++] = (char)('0' + rest % 10);
	while ((rest /= 10) != 0);
	while (count > 0)
		*to++ = digits[--count];
	*to++ = end;
	return to;
}

static int32_t number_read(const char *text)
{
	bool negative = *text == '-';
	int32_t value = 0;

	for (text += negative; *text >= '0' && *text <= '9' && value < 100000; text++)
		value = value * 10 + (*text - '0');
	return negative ? -value : value;
}

static void motor_step(void)
{
	speed += ((set_point * SCALE - position) * STIFFNESS -
		  speed * DAMPING * SCALE / 64) / SCALE;
	position += speed;
}

/* Answers a set point. */
static void follow(void)
{
	for (int32_t i = 0; i < CONTROL_REPLIES; i++) {
		char reply[32];
		char *end = number_write(reply, i * CONTROL_PERIOD, ' ');

		end = number_write(end, position / SCALE, '\n');
		if (!os_channel_send(reply, (uint32_t)(end - reply)))
			return;
		motor_step();
		for (uint32_t tick = os_tick(); os_tick() - tick < CONTROL_PERIOD;)
			os_tick_sleep();
	}
}

static void take(char character)
{
	if (character != '\n' && length < LINE_MAXIMUM) {
		line[length++] = character;
		return;
	}
	line[length] = '\0';
	length = 0;
	set_point = number_read(line);
	follow();
}

/* Forgets what has come. Linux has begun a new life, or it writes nonsense into the channel, as
 * long as it likes. */
static void abandon(void)
{
	length = 0;
	os_tick_sleep();
}

void control_loop(void)
{
	char character;

	for (;;)
		if (os_channel_receive(&character, 1))
			take(character);
		else
			abandon();
}
