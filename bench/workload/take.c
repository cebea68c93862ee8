/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a CPU from all other processes of Linux, as an RTOS beside it does: what Linux makes of the
 * CPUs that are left is what one can get of them (docs/migration.md).
 *
 *	bench-take CPU PERIOD WORK
 *		has that CPU, as a real-time process, for the first WORK us of each PERIOD us but
 *		the first one, and does not end
 */
#include "system.h"
#include "text.h"

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
	struct timespec now = { 0, 0 };

	system_call(CALL_CLOCK_GETTIME, CLOCK_MONOTONIC, (long)&now, 0);
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

static void __attribute__((noreturn)) cpu_take(unsigned period_us, unsigned work_us)
{
	struct timespec next = time_now(), end;

	for (;;) {
		time_add(&next, period_us);
		system_call6(CALL_CLOCK_NANOSLEEP, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&next, 0,
			     0, 0);
		end = next;
		time_add(&end, work_us);
		work_until(&end);
	}
}

int program(int count, char **arguments)
{
	int priority = PRIORITY;

	if (count == 4 && system_stay_on((unsigned)text_number(arguments[1], NULL)) == 0 &&
	    system_call(CALL_SETSCHEDULER, 0, SCHED_FIFO, (long)&priority) == 0)
		cpu_take((unsigned)text_number(arguments[2], NULL),
			 (unsigned)text_number(arguments[3], NULL));
	line_text("bench-take: the CPU cannot be had; usage: bench-take CPU PERIOD WORK");
	line_write(2);
	return 1;
}
