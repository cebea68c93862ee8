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

static struct deadline last = {.time = TIME_NEVER};
static struct deadline *first = &last;
static const struct timer_hardware *hardware;
static u64 programmed = TIME_NEVER;

COLD void time_init(void)
{
	time_tsc_khz = i8254_measure_tsc();
	hardware = apic_init() ? &apic_timer : &i8254_timer;
	hardware->start();
	log_line("TSC %u kHz, timer: %s", time_tsc_khz, hardware->name);
}

static void time_program(void)
{
	programmed = first->time;
	hardware->program(programmed);
}

COLD void time_stop(void)
{
	hardware->stop();
	programmed = 0; /* nothing is, whatever is set: the guest may use the timer */
}

COLD void time_start(void)
{
	hardware->start();
	time_program();
}

COLD int time_irq(void)
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

static void deadline_insert(struct deadline *deadline, u64 time)
{
	struct deadline **link = &first;
	struct deadline *next;

	deadline->time = time;
	/* No other has as large an upper half. */
	if ((u32)(time >> 32) == (u32)(TIME_NEVER >> 32))
		return;
	while ((next = *link)->time <= time)
		link = &next->next;
	deadline->next = next;
	*link = deadline;
}

COLD void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *, u64))
{
	deadline->time = TIME_NEVER;
	deadline->expire = expire;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	if (deadline->time != TIME_NEVER)
		deadline_remove(deadline);
	deadline_insert(deadline, time);
	if (time < programmed)
		time_program();
}

void time_interrupt(void)
{
	u64 now = rdtsc();

	programmed = 0; /* whatever expire() sets is programmed below */
	while (first->time <= now) {
		struct deadline *deadline = first;

		first = deadline->next;
		deadline_insert(deadline, deadline->expire(deadline, now));
	}
	time_program();
}

COLD u64 time_microseconds(u64 ticks)
{
	return multiply_divide(ticks, 1000, time_tsc_khz);
}

COLD u64 time_milliseconds(u64 ticks)
{
	return divide_u64(ticks, time_tsc_khz, NULL);
}
