/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of deadlines. It is a sorted list, so the timer interrupt looks only at those that are
 * due. There are two or three deadlines for each guest. The frequent ones are mostly in front,
 * so an insertion passes few of them.
 */
#include "core/time.h"

#include "core/core.h"
#include "lib/math.h"
#include "lib/owner.h"
#include "masked_state.h"
#include "platform.h"

/* Ticks in which an RTOS begins to run, on a CPU that takes several of them for an instruction,
 * too. */
#define BEGIN_TICKS 2048u

OF_MACHINE u32 time_tsc_khz;

OF_CORE_INITIALISED static struct deadline last = {.time = TIME_NEVER};
OF_CORE_INITIALISED static struct deadline *first = &last;
/* The first deadline, which is the VMM's, was not served by the last interrupt. */
OF_CORE static bool passed_over;
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

/* Has the timer interrupt at a time. program() finds out by itself whether that is over. */
static void timer_program(u64 time)
{
	s32 high;
	u32 low;
	bool over = rdtsc_since(&time, &low, &high);

	(void)over;
	hardware->program(low, high);
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

	EXPECTS_MASKED();
	if (deadline->time != TIME_NEVER) {
		while (*link != deadline)
			link = &(*link)->next;
		*link = deadline->next;
	}
	deadline_insert(deadline, time);
	if (first == deadline)
		timer_program(time);
}

static inline void deadline_expire(struct deadline **link)
{
	struct deadline *deadline = *link;

	*link = deadline->next;
	deadline_insert(deadline, deadline->expire(deadline));
}

/* Expires the most urgent one of the deadlines that are over, if it is a guest's, or the first one
 * if that has not been served yet, and programs an interrupt for the rest. Guests can have timers
 * expire at one time, and an RTOS must not wait for deadlines of others. Those of priority 0 may
 * have more to do: the VMM's own move bytes, for example. The interrupt comes when the guest that
 * wakes up has begun to run, or when the first one is over of those that are not yet. */
APART static void time_interrupt_several(bool served)
{
	struct deadline **most_urgent = &first, **link;
	u64 now = rdtsc(), next = now + BEGIN_TICKS;

	for (link = &first->next; (*link)->time <= now; link = &(*link)->next)
		if ((*link)->priority > (*most_urgent)->priority)
			most_urgent = link;
	passed_over = !served && (*most_urgent)->priority != 0;
	if (!served || (*most_urgent)->priority != 0)
		deadline_expire(most_urgent);
	for (link = &first; (*link)->time <= now; link = &(*link)->next)
		;
	if (first->time > now || (*link)->time < next)
		next = (*link)->time;
	timer_program(next);
}

/* An RTOS's deadline is mostly the only one that is over. One of the VMM's is passed over by one
 * interrupt, and by no more: RTOSes whose timers expire often would leave no time for it. */
void time_interrupt(void)
{
	s32 high;
	u32 low;

	EXPECTS_MASKED();
	if (rdtsc_since(&first->time, &low, &high)) {
		if (first->priority == 0 && !passed_over) {
			time_interrupt_several(false);
			return;
		}
		passed_over = false;
		deadline_expire(&first);
		if (rdtsc_since(&first->time, &low, &high)) {
			time_interrupt_several(true);
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
