/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the queue of deadlines. It is a sorted list, so the timer interrupt looks only at those
 * that are due. There are two or three deadlines for each guest. The frequent ones are mostly in
 * front, so an insertion passes few of them.
 */
#include "core/time.h"

#include "core/core.h"
#include "lib/math.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "platform.h"

/* A millisecond divided by this is long enough for an RTOS to begin to run. */
#define BEGIN_RATE 256

OF_MACHINE u32 time_tsc_khz;

OF_CORE_INITIALISED static struct deadline last = {.time = TIME_NEVER};
OF_CORE_INITIALISED static struct deadline *first = &last;
/* The timer that this machine has. */
OF_MACHINE static const struct timer_hardware *found;
/* The same, or no_timer while the timer is left to a guest. */
OF_CORE static const struct timer_hardware *hardware;

static void program_nothing(UNUSED u32 low, UNUSED s32 high)
{
}

static const struct timer_hardware no_timer = {.program = program_nothing};

void time_init(void)
{
	time_tsc_khz = timer_measure_tsc();
	found = hardware = timer_choose();
	hardware->start();
}

void time_stop(void)
{
	hardware = &no_timer;
	found->stop();
}

void time_start(void)
{
	hardware = found;
	hardware->start();
	time_interrupt();
}

const char *time_hardware(void)
{
	return found->name;
}

int time_irq(void)
{
	return found->irq;
}

/* Puts a deadline that is not in the queue into its place there, which is mostly the first. */
static void deadline_insert(struct deadline *deadline, u64 time)
{
	struct deadline **link = &first;

	deadline->time = time;
	if (first->time <= time) {
		if (!deadline_is_set(deadline))
			return;
		do
			link = &(*link)->next;
		while ((*link)->time <= time);
	}
	deadline->next = *link;
	*link = deadline;
}

void deadline_init(struct deadline *deadline, u64 (*expire)(struct deadline *), u32 priority)
{
	deadline->time = TIME_NEVER;
	deadline->priority = priority;
	deadline->expire = expire;
}

void deadline_set(struct deadline *deadline, u64 time)
{
	struct deadline **link = &first;
	s32 high;
	u32 low;

	EXPECTS_MASKED();
	if (deadline->time != TIME_NEVER) {
		while (*link != deadline)
			link = &(*link)->next;
		*link = deadline->next;
	}
	deadline_insert(deadline, time);
	if (first == deadline) {
		/* program() finds out by itself whether the deadline is over. */
		bool over = rdtsc_since(&time, &low, &high);

		(void)over;
		hardware->program(low, high);
	}
}

bool deadline_waits(void)
{
	return first->time <= rdtsc();
}

static inline void deadline_expire(struct deadline **link)
{
	struct deadline *deadline = *link;

	*link = deadline->next;
	deadline_insert(deadline, deadline->expire(deadline));
}

/* Expires one more deadline, if several are over, and programs an interrupt for the rest. Guests
 * can have their timers expire at one time, and an RTOS must not wait for the deadlines of others.
 * So the most urgent deadline is next; one of priority 0, which may have more to do, is not. The
 * interrupt comes when the guest that wakes up has begun to run. */
APART static void time_interrupt_further(void)
{
	u64 now = rdtsc();
	struct deadline **most_urgent = &first;
	s32 high;
	u32 low;

	for (struct deadline **link = &first->next; (*link)->time <= now; link = &(*link)->next)
		if ((*link)->priority > (*most_urgent)->priority)
			most_urgent = link;
	if ((*most_urgent)->priority != 0)
		deadline_expire(most_urgent);
	if (rdtsc_since(&first->time, &low, &high)) {
		low = -(time_tsc_khz / BEGIN_RATE);
		high = -1;
	}
	hardware->program(low, high);
}

void time_interrupt(void)
{
	s32 high;
	u32 low;

	EXPECTS_MASKED();
	if (rdtsc_since(&first->time, &low, &high)) {
		deadline_expire(&first);
		if (rdtsc_since(&first->time, &low, &high)) {
			time_interrupt_further();
			return;
		}
	}
	hardware->program(low, high);
}

u64 time_microseconds(u64 ticks)
{
	return multiply_divide(ticks, 1000, time_tsc_khz);
}

u64 time_milliseconds(u64 ticks)
{
	return divide_u64(ticks, time_tsc_khz, NULL);
}
