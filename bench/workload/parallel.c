/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on several CPUs at once. How much of the time a CPU has worked is told by how long Linux
 * says that it was idle: the time stamp counter, which is the same on all, counts on while a CPU
 * halts.
 */
#include "parallel.h"

#include "interrupts.h"
#include "operation.h"
#include "system.h"
#include "text.h"

#define CPUS_MAXIMUM 8u

/* What the processes of an operation have in common. */
struct meeting {
	unsigned ready, done;
	unsigned told; /* processes that have printed their line */
	uint64_t began[CPUS_MAXIMUM], ended[CPUS_MAXIMUM];
};

static volatile struct meeting *meeting;

/* --- Idle CPUs --- */

/* At a moment of each CPU's own: the time stamp, and how long it has been idle, in ns. */
struct idle {
	uint64_t at[CPUS_MAXIMUM], idle[CPUS_MAXIMUM];
};

static unsigned cpus_online;

/* Linux adds to what it says when a CPU is idle no more: so each is made to work first. */
static void cpus_visit(struct idle *idle)
{
	for (cpus_online = 0; cpus_online < CPUS_MAXIMUM; cpus_online++) {
		if (system_stay_on(cpus_online) != 0)
			break;
		idle->at[cpus_online] = time_stamp();
	}
	check(system_run_anywhere() == 0, "no CPU can be had");
}

static void idle_read(struct idle *idle)
{
	const char *text;
	unsigned cpu = 0;

	cpus_visit(idle);
	for (text = proc_read("/proc/timer_list"); *text; text = text_next_line(text)) {
		const char *end = text_next_line(text), *at = text;

		if (!text_has(text, end, ".idle_sleeptime") || cpu == cpus_online)
			continue;
		while (*at < '0' || *at > '9')
			at++;
		idle->idle[cpu++] = text_number(at, NULL);
	}
	check(cpu == cpus_online, "/proc/timer_list does not tell how long each CPU was idle");
}

static void idle_print(const char *name, const struct idle *before, const struct idle *after)
{
	for (unsigned cpu = 0; cpu < cpus_online; cpu++) {
		line_text("idle=");
		line_text(name);
		line_field("cpu", cpu);
		line_field("ticks", after->at[cpu] - before->at[cpu]);
		line_field("idle_ns", after->idle[cpu] - before->idle[cpu]);
		line_write(1);
	}
}

/* --- An operation on each --- */

static unsigned cpus_count(const char *cpus)
{
	unsigned count = 0;

	for (; cpus[count]; count++)
		if (cpus[count] < '0' || cpus[count] >= (char)('0' + CPUS_MAXIMUM))
			operation_fail("CPUS has digits from 0 to 7");
	if (count == 0 || count > CPUS_MAXIMUM)
		operation_fail("CPUS are 1 to 8");
	return count;
}

static void wait_for(volatile unsigned *word, unsigned value)
{
	while (*word != value)
		__asm__ volatile("pause" : : : "memory");
}

/* Nothing is printed while one of them is still measuring. */
static void process_tell(unsigned place, unsigned cpu, unsigned count)
{
	wait_for(&meeting->told, place);
	line_text("together=");
	line_text(operation->name);
	line_field("cpu", cpu);
	line_field("operations", (uint64_t)count * operation->parts);
	line_field("began", meeting->began[place]);
	line_field("ended", meeting->ended[place]);
	line_write(1);
}

static void __attribute__((noreturn)) process_run(unsigned place, unsigned cpu, unsigned count,
						  unsigned processes)
{
	check(system_stay_on(cpu) == 0, "a CPU cannot be had");
	if (operation->prepare)
		operation->prepare();
	for (unsigned i = 0; i < WARM_UP; i++)
		operation->run();
	__atomic_add_fetch(&meeting->ready, 1, __ATOMIC_SEQ_CST);
	wait_for(&meeting->ready, processes);
	meeting->began[place] = time_stamp();
	for (unsigned i = 0; i < count; i++)
		operation->run();
	meeting->ended[place] = time_stamp();
	__atomic_add_fetch(&meeting->done, 1, __ATOMIC_SEQ_CST);
	wait_for(&meeting->done, processes);
	process_tell(place, cpu, count);
	meeting->told++;
	operation_runs = WARM_UP + count;
	if (operation->finish)
		operation->finish();
	system_exit(0);
}

void together(unsigned count, const char *cpus)
{
	unsigned processes = cpus_count(cpus);
	int status;

	meeting = system_map_shared(sizeof(*meeting));
	check(meeting != NULL, "there is no memory");
	for (unsigned i = 0; i < processes; i++) {
		long child = system_call(CALL_FORK, 0, 0, 0);

		check(child >= 0, "fork failed");
		if (child == 0)
			process_run(i, (unsigned)(cpus[i] - '0'), count, processes);
	}
	for (unsigned i = 0; i < processes; i++)
		check(system_call6(CALL_WAIT4, -1, (long)&status, 0, 0, 0, 0) > 0 && status == 0,
		      "a process failed");
}

/* --- A program --- */

void elapsed(const char *name, char **arguments)
{
	static char search_path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	static struct idle before, after;
	char *environment[] = { search_path, NULL };
	uint64_t start, end;
	long child;
	int status = 1;

	idle_read(&before);
	start = time_stamp();
	child = system_call(CALL_FORK, 0, 0, 0);
	if (child == 0) {
		long nowhere = system_call(CALL_OPEN, (long)"/dev/null", O_WRONLY, 0);

		if (system_call(CALL_DUP2, nowhere, 1, 0) != 1)
			system_exit(1);
		system_call(CALL_EXECVE, (long)arguments[0], (long)arguments, (long)environment);
		system_exit(127);
	}
	check(child > 0, "fork failed");
	check(system_call6(CALL_WAIT4, child, (long)&status, 0, 0, 0, 0) == child, "wait failed");
	end = time_stamp();
	check(status == 0, "the program failed");
	idle_read(&after);
	line_text("elapsed=");
	line_text(name);
	line_field("ticks", end - start);
	line_write(1);
	idle_print(name, &before, &after);
}
