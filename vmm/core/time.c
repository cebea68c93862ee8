/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of deadlines: an array searched on each expiry. There are two or
 * three deadlines per guest, so a heap would not pay.
 */
#include "core/time.h"

#include "core/log.h"
#include "hardware/apic.h"
#include "hardware/i8254.h"
#include "ia32/cpu.h"
#include "lib/math.h"

#define DEADLINES_MAXIMUM 32

u32 time_tsc_khz;

static struct deadline *deadlines[DEADLINES_MAXIMUM];
static u32 deadline_count;
static const struct timer_hardware *hardware;
static u64 programmed = TIME_NEVER;

void time_init(void)
{
	time_tsc_khz = i8254_measure_tsc();
	hardware = apic_init() ? &apic_timer : &i8254_timer;
	hardware->start();
	log_line("TSC %u kHz, timer: %s", time_tsc_khz, hardware->name);
}

void time_stop(void)
{
	hardware->stop();
}

void time_start(void)
{
	programmed = TIME_NEVER;
	hardware->start();
}

int time_irq(void)
{
	return hardware->irq;
}

void deadline_add(struct deadline *deadline)
{
	if (deadline_count == DEADLINES_MAXIMUM)
		panic("more than %u deadlines", DEADLINES_MAXIMUM);
	deadline->time = TIME_NEVER;
	deadlines[deadline_count++] = deadline;
}

static void time_program(u64 time)
{
	u64 now;

	programmed = time;
	if (time == TIME_NEVER)
		return;
	now = rdtsc();
	hardware->program(time > now ? time - now : 0);
}

void deadline_set(struct deadline *deadline, u64 time)
{
	deadline->time = time;
	if (time < programmed)
		time_program(time);
}

void time_interrupt(void)
{
	u64 now = rdtsc();
	u64 next = TIME_NEVER;
	u32 i;

	programmed = 0; /* whatever expire() sets is programmed below */
	for (i = 0; i < deadline_count; i++)
		if (deadlines[i]->time <= now)
			deadlines[i]->expire(deadlines[i], now);
	for (i = 0; i < deadline_count; i++)
		if (deadlines[i]->time < next)
			next = deadlines[i]->time;
	time_program(next);
}

u64 time_microseconds(u64 ticks)
{
	return multiply_divide(ticks, 1000, time_tsc_khz);
}

u64 time_milliseconds(u64 ticks)
{
	return divide_u64(ticks, time_tsc_khz, NULL);
}
