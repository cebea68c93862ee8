/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that gives up its right to read the time stamp counter, and takes it back.
 *	tsc alone
 * It does so once, with RDTSC in between and behind.
 *	tsc turns COUNT
 * Two processes take turns, so many each: RDTSC faults in the one and gives the other a time that
 * grows.
 *
 * It prints "tsc: ok", or ends with the number of the line at which something was wrong.
 */
#include "process.h"

/* Of RDTSC. */
#define FAULT_BYTES "2"
#include "fault.h"

#define SYSCALL_WAITPID 7
#define SYSCALL_PIPE 42
#define SYSCALL_PRCTL 172
#define PR_GET_TSC 25
#define PR_SET_TSC 26
#define TSC_ENABLED 1
#define TSC_FAULTS 2

static unsigned long long time(void)
{
	unsigned long long now;

	__asm__ volatile("rdtsc" : "=A"(now) : "0"(0ull) : "memory");
	return now;
}

static void right_set(unsigned long right)
{
	unsigned long found = 0;

	CHECK(system_call(SYSCALL_PRCTL, PR_SET_TSC, right, 0, 0, 0) == 0);
	CHECK(system_call(SYSCALL_PRCTL, PR_GET_TSC, (unsigned long)&found, 0, 0, 0) == 0);
	CHECK(found == right);
}

static void alone(void)
{
	unsigned long long before = time();

	CHECK(before != 0 && faults == 0);
	right_set(TSC_FAULTS);
	CHECK(time() == 0 && faults == 1);
	CHECK(time() == 0 && faults == 2);
	right_set(TSC_ENABLED);
	CHECK(time() > before && faults == 2);
}

static void wait_for(int pipe)
{
	char byte;

	CHECK(system_call(SYSCALL_READ, (unsigned long)pipe, (unsigned long)&byte, 1, 0, 0) == 1);
}

static void wake(int pipe)
{
	CHECK(system_call(SYSCALL_WRITE, (unsigned long)pipe, (unsigned long)"", 1, 0, 0) == 1);
}

static void child(unsigned count, int in, int out)
{
	right_set(TSC_FAULTS);
	for (unsigned i = 1; i <= count; i++) {
		wait_for(in);
		CHECK(time() == 0 && faults == i);
		wake(out);
	}
	end(0);
}

static void turns(unsigned count)
{
	unsigned long long now, last = time();
	int there[2], back[2], status;

	CHECK(system_call(SYSCALL_PIPE, (unsigned long)there, 0, 0, 0, 0) == 0);
	CHECK(system_call(SYSCALL_PIPE, (unsigned long)back, 0, 0, 0, 0) == 0);
	if (system_call(SYSCALL_FORK, 0, 0, 0, 0, 0) == 0)
		child(count, there[0], back[1]);
	/* So that the end of either process is seen by the other. */
	CHECK(system_call(SYSCALL_CLOSE, (unsigned long)there[0], 0, 0, 0, 0) == 0);
	CHECK(system_call(SYSCALL_CLOSE, (unsigned long)back[1], 0, 0, 0, 0) == 0);
	for (unsigned i = 0; i < count; i++) {
		wake(there[1]);
		wait_for(back[0]);
		now = time();
		CHECK(now > last && faults == 0);
		last = now;
	}
	CHECK(system_call(SYSCALL_WAITPID, ~0ul, (unsigned long)&status, 0, 0, 0) > 0);
	CHECK(status == 0);
}

static unsigned number(const char *text)
{
	unsigned result = 0;

	for (; *text; text++)
		result = result * 10 + (unsigned)(*text - '0');
	return result;
}

void run(int count, char **arguments)
{
	static const char ok[] = "tsc: ok\n";

	CHECK(system_call(SYSCALL_SIGACTION, SIGNAL_SEGV, (unsigned long)&action, 0, 0, 0) == 0);
	if (count == 3)
		turns(number(arguments[2]));
	else
		alone();
	system_call(SYSCALL_WRITE, 1, (unsigned long)ok, sizeof(ok) - 1, 0, 0);
	end(0);
}
