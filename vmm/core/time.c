/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of deadlines: a sorted list, so that the timer interrupt looks at
 * what is due only. There are two or three deadlines per guest, and the most
 * frequent ones stand in front: an insertion passes few of them.
 */
#include "core/time.h"

#include "core/log.h"
#include "hardware/apic.h"
#include "hardware/i8254.h"
#include "ia32/cpu.h"
#include "lib/math.h"

u32 time_tsc_khz;

static struct deadline *first;
static const struct timer_hardware *hardware;
static u64 programmed = TIME_NEVER;

void time_init(void)
{
	time_tsc_khz = i8254_measure_tsc();
	hardware = apic_init() ? &apic_timer : &i8254_timer;
	hardware->start();
	log_line("TSC %u kHz, timer: %s", time_tsc_khz, hardware->name);
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

static void time_program_first(void)
{
	time_program(first != NULL ? first->time : TIME_NEVER);
}

void time_stop(void)
{
	hardware->stop();
}

void time_start(void)
{
	hardware->start();
	time_program_first();
}

int time_irq(void)
{
	return hardware->irq;
}

static void deadline_remove(struct deadline *deadline)
{
	struct deadline **link = &first;

	while (*link != deadline)
		link = &(*link)->next;
	*link = deadline->next;
}

static void deadline_insert(struct deadline *deadline)
{
	struct deadline **link = &first;

	while (*link != NULL && (*link)->time <= deadline->time)
		link = &(*link)->next;
	deadline->next = *link;
	*link = deadline;
}

void deadline_init(struct deadline *deadline, void (*expire)(struct deadline *, u64, u64))
{
	deadline->time = TIME_NEVER;
	deadline->expire = expire;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	if (deadline->time != TIME_NEVER)
		deadline_remove(deadline);
	deadline->time = time;
	if (time == TIME_NEVER)
		return;
	deadline_insert(deadline);
	if (time < programmed)
		time_program(time);
}

void time_interrupt(void)
{
	u64 now = rdtsc();

	programmed = 0; /* whatever expire() sets is programmed below */
	while (first != NULL && first->time <= now) {
		struct deadline *deadline = first;
		u64 time = deadline->time;

		first = deadline->next;
		deadline->time = TIME_NEVER;
		deadline->expire(deadline, time, now);
	}
	time_program_first();
}

u64 time_microseconds(u64 ticks)
{
	return multiply_divide(ticks, 1000, time_tsc_khz);
}

u64 time_milliseconds(u64 ticks)
{
	return divide_u64(ticks, time_tsc_khz, NULL);
}
