/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a CPU from all others in Linux itself: what Linux makes of the CPUs that are left is what
 * one can get of them beside an RTOS that takes as much (docs/migration.md).
 */
#include "realtime.h"

#include "operation.h"
#include "system.h"

enum { CLOCK_MONOTONIC = 1, TIMER_ABSTIME = 1, SCHED_FIFO = 1 };
#define PRIORITY 50
#define MICROSECOND 1000L
#define SECOND 1000000000L

static void time_add(struct timespec *time, unsigned us)
{
	time->seconds += (long)(us / 1000000);
	time->nanoseconds += (long)(us % 1000000) * MICROSECOND;
	if (time->nanoseconds >= SECOND) {
		time->nanoseconds -= SECOND;
		time->seconds++;
	}
}

static struct timespec time_now(void)
{
	struct timespec now;

	check(system_call(CALL_CLOCK_GETTIME, CLOCK_MONOTONIC, (long)&now, 0) == 0,
	      "there is no clock");
	return now;
}

static void work_until(const struct timespec *end)
{
	struct timespec now;

	do
		now = time_now();
	while (now.seconds < end->seconds ||
	       (now.seconds == end->seconds && now.nanoseconds < end->nanoseconds));
}

void realtime_take(unsigned cpu, unsigned period_us, unsigned work_us)
{
	int priority = PRIORITY;
	struct timespec next = time_now(), end;

	check(system_stay_on(cpu) == 0 &&
	      system_call(CALL_SETSCHEDULER, 0, SCHED_FIFO, (long)&priority) == 0,
	      "the CPU cannot be had");
	for (;;) {
		time_add(&next, period_us);
		system_call6(CALL_CLOCK_NANOSLEEP, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&next, 0,
			     0, 0);
		end = next;
		time_add(&end, work_us);
		work_until(&end);
	}
}
