/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that reads the clock on one CPU after the other, until a file is there.
 *	clock FILE CPUS		"clock: forward" if no time that it has read was before the one that
 *				it had read before, on whatever CPU; "clock: back" if one was
 * CPUS is one digit: it is on the first so many.
 */
#include "process.h"

#define SYSCALL_ACCESS 33
#define SYSCALL_SCHED_SETAFFINITY 241
#define SYSCALL_CLOCK_GETTIME 265
#define CLOCK_MONOTONIC 1
/* Reads on a CPU before it goes to the next. */
#define READS 64u

struct time {
	long seconds, nanoseconds;
};

static int is_before(const struct time *time, const struct time *other)
{
	return time->seconds < other->seconds ||
	       (time->seconds == other->seconds && time->nanoseconds < other->nanoseconds);
}

/* Returns whether the clock goes back. */
static int read_some(struct time *last)
{
	for (unsigned i = 0; i < READS; i++) {
		struct time now;

		system_call(SYSCALL_CLOCK_GETTIME, CLOCK_MONOTONIC, (unsigned long)&now, 0, 0, 0);
		if (is_before(&now, last))
			return 1;
		*last = now;
	}
	return 0;
}

void run(int count, char **arguments)
{
	static const char forward[] = "clock: forward\n", back[] = "clock: back\n";
	struct time last = { 0, 0 };
	unsigned cpus, cpu = 0;

	if (count != 3)
		end(1);
	cpus = (unsigned)(arguments[2][0] - '0');
	while (system_call(SYSCALL_ACCESS, (unsigned long)arguments[1], 0, 0, 0, 0) != 0) {
		unsigned long mask = 1ul << cpu++ % cpus;

		if (system_call(SYSCALL_SCHED_SETAFFINITY, 0, sizeof(mask), (unsigned long)&mask,
				0, 0) != 0)
			end(1);
		if (read_some(&last)) {
			system_call(SYSCALL_WRITE, 1, (unsigned long)back, sizeof(back) - 1, 0, 0);
			end(1);
		}
	}
	system_call(SYSCALL_WRITE, 1, (unsigned long)forward, sizeof(forward) - 1, 0, 0);
	end(0);
}
