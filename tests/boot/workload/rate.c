/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that compares the time stamp counter with Linux's clock.
 *	rate SECONDS		prints how many ticks and nanoseconds have passed in so many seconds
 *				(one digit), both in hexadecimal
 */
#include "process.h"

#define SYSCALL_NANOSLEEP 162
#define SYSCALL_CLOCK_GETTIME 265
#define CLOCK_MONOTONIC 1
#define READS 64u

struct time {
	long seconds, nanoseconds;
};

struct sample {
	unsigned long long ticks, nanoseconds;
};

static unsigned long long tick_count(void)
{
	unsigned low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long long)high << 32 | low;
}

/* Reads both some times, and returns those that were read in the fewest ticks. */
static struct sample sample_take(void)
{
	unsigned long long shortest = ~0ull;
	struct sample best = { 0, 0 };

	for (unsigned i = 0; i < READS; i++) {
		unsigned long long begin = tick_count(), taken;
		struct time now;

		system_call(SYSCALL_CLOCK_GETTIME, CLOCK_MONOTONIC, (unsigned long)&now, 0, 0, 0);
		taken = tick_count() - begin;
		if (taken >= shortest)
			continue;
		shortest = taken;
		best.ticks = begin + taken / 2;
		best.nanoseconds = now.seconds * 1000000000ull + (unsigned long)now.nanoseconds;
	}
	return best;
}

static void show(unsigned long long number, char end)
{
	char text[17];

	for (int i = 15; i >= 0; i--, number >>= 4)
		text[i] = "0123456789abcdef"[number & 15];
	text[16] = end;
	system_call(SYSCALL_WRITE, 1, (unsigned long)text, sizeof(text), 0, 0);
}

void run(int count, char **arguments)
{
	struct time pause = { 0, 0 };
	struct sample first, last;

	if (count != 2)
		end(1);
	pause.seconds = arguments[1][0] - '0';
	first = sample_take();
	system_call(SYSCALL_NANOSLEEP, (unsigned long)&pause, 0, 0, 0, 0);
	last = sample_take();
	show(last.ticks - first.ticks, ' ');
	show(last.nanoseconds - first.nanoseconds, '\n');
	end(0);
}
