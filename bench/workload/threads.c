/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of a process with a thread on each of several CPUs: what it costs that one CPU has
 * something done by the others. The measuring thread is on CPU 0, and those on the others compute
 * without an end. operation_argument says how many CPUs there are.
 */
#include "threads.h"

#include "interrupts.h"
#include "operation.h"
#include "system.h"
#include "text.h"

#define CPUS_MAXIMUM 8u
#define STACK 16384u
#define PAGE 4096u

#define MEMBARRIER_PRIVATE_EXPEDITED 8
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED 16

static unsigned threads;
static volatile unsigned begun, ended, stop;
static volatile char *page;
static uint32_t unmapped_at;
static uint64_t interrupts_before;

static void thread_run(void)
{
	/* Threads take their CPUs in the order in which they come here. */
	unsigned cpu = __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);

	check(system_stay_on(cpu) == 0, "a CPU cannot be had");
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
	while (!stop)
		;
	__atomic_sub_fetch(&ended, 1, __ATOMIC_SEQ_CST);
	system_exit(0);
}

/* Waits until so many threads compute. */
static void threads_wait(unsigned count)
{
	struct timespec time = { 0, 1000000 };

	while (ended != count)
		system_call(CALL_NANOSLEEP, (long)&time, 0, 0);
}

static void threads_start(void)
{
	char *stacks = system_map(CPUS_MAXIMUM * STACK);

	check(operation_argument != NULL, "it needs a number of CPUs");
	threads = (unsigned)text_number(operation_argument, NULL) - 1;
	check(threads > 0 && threads < CPUS_MAXIMUM && stacks != NULL, "2 to 8 CPUs are needed");
	check(system_stay_on(0) == 0, "CPU 0 cannot be had");
	for (unsigned i = 1; i <= threads; i++)
		check(system_thread(thread_run, stacks + i * STACK) > 0, "there is no thread");
	threads_wait(threads);
}

static void threads_end(void)
{
	stop = 1;
	threads_wait(0);
}

/* Each call of the function interrupts the other CPUs and waits for them. */
void ipi_prepare(void)
{
	threads_start();
	check(system_call(CALL_MEMBARRIER, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0,
	      "membarrier cannot be had");
	interrupts_before = interrupts_of("CAL:");
}

void ipi_run(void)
{
	check(system_call(CALL_MEMBARRIER, MEMBARRIER_PRIVATE_EXPEDITED, 0, 0) == 0,
	      "membarrier failed");
}

/* Linux counts a flush that another CPU has asked for among the calls of functions, too. */
void ipi_finish(void)
{
	check(interrupts_of("CAL:") - interrupts_before >= (uint64_t)operation_runs * threads,
	      "not each of the CPUs was interrupted");
	threads_end();
}

void shootdown_prepare(void)
{
	threads_start();
	interrupts_before = interrupts_of("TLB:");
}

/* What is measured is munmap() of a page that the others might have in their TLBs. */
void shootdown_run(void)
{
	page = system_map(PAGE);
	check(page != NULL, "mmap failed");
	*page = 1;
	unmapped_at = (uint32_t)time_stamp();
	check(system_call(CALL_MUNMAP, (long)page, PAGE, 0) == 0, "munmap failed");
}

/* The same at times that have nothing to do with what happens beside it: what the pauses add up to
 * is no multiple of anything. */
void shootdown_apart_run(void)
{
	static unsigned pauses;
	struct timespec time = { 0, (long)(1000000 + pauses++ * 7919 % 97 * 61803) };

	system_call(CALL_NANOSLEEP, (long)&time, 0, 0);
	shootdown_run();
}

uint32_t shootdown_began(void)
{
	return unmapped_at;
}

void shootdown_finish(void)
{
	check(interrupts_of("TLB:") - interrupts_before >= (uint64_t)operation_runs * threads,
	      "not each of the CPUs has flushed its TLB");
	threads_end();
}
