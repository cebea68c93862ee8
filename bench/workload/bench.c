/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures operations of Linux from inside, with the time stamp counter, and runs them for somebody
 * who measures from outside. Static and without a library, so that it is the same everywhere.
 *
 *	bench sample OPERATION N [PROGRAM-OR-SCRIPT]
 *		measures N operations one by one, less what measuring itself costs
 *	bench count OPERATION N [PROGRAM-OR-SCRIPT]
 *		N operations between a call of umask() and one of times(), begun behind a timer
 *		interrupt, so that as few of those as possible come in between
 *	bench boot
 *		the time stamp, which a deterministic machine begins at 0; calls umask() and
 *		times(), so that somebody who measures from outside knows the beginning
 *	bench together OPERATION N CPUS
 *		N operations on each of these CPUs at once, one process each; CPUS is like 0123
 *	bench elapsed NAME PROGRAM [ARGUMENT...]
 *		how long a program takes, and how long each CPU is idle meanwhile
 *	bench flush N
 *		changes page tables N times as fast as it can, and measures nothing
 *	bench list
 *		the names of the operations
 *
 * Each writes a line that begins with its own name:
 *	sample=NAME samples=N minimum= median= mean_times_100= maximum= overhead= timer= others=
 *	count=NAME operations=N ticks= timer= others=
 *	together=NAME cpu=N operations=N began= ended=
 *	elapsed=NAME ticks=, and for each CPU: idle=NAME cpu=N ticks= idle_ns=
 * timer, others: interrupts meanwhile, of timers and of our own drivers, and of whatever else, as
 * Linux counts them.
 */
#include "interrupts.h"
#include "operation.h"
#include "parallel.h"
#include "system.h"
#include "text.h"

#define SAMPLES 4096u
/* Two time stamps are taken so often to find what that costs. */
#define CALIBRATIONS 64u
/* Of a round of the load: a page table's worth of pages. */
#define FLUSH_PAGE 4096u
#define FLUSH_PAGES 1024u
/* Until the console has printed what it was given. */
#define PAUSE_NANOSECONDS 100000000L

static uint32_t samples[SAMPLES];
unsigned operation_runs;
const struct operation *operation;

void operation_fail(const char *what)
{
	line_text("bench: ");
	line_text(operation ? operation->name : "command");
	line_text(": ");
	line_text(what);
	line_write(2);
	system_exit(1);
}

/* --- Samples --- */

static uint32_t overhead_find(void)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < CALIBRATIONS; i++) {
		uint64_t start = time_stamp();
		uint32_t taken = (uint32_t)(time_stamp() - start);

		if (taken < least)
			least = taken;
	}
	return least;
}

/* Shell sort: no memory, and quick enough for so few. */
static void sort(uint32_t *values, unsigned count)
{
	for (unsigned gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (unsigned i = gap; i < count; i++) {
			uint32_t value = values[i];
			unsigned j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap)
				values[j] = values[j - gap];
			values[j] = value;
		}
}

static void samples_print(unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += samples[i];
	sort(samples, count);
	line_field("samples", count);
	line_field("minimum", samples[0]);
	line_field("median", samples[count / 2]);
	line_field("mean_times_100", (sum * 100 + count / 2) / count);
	line_field("maximum", samples[count - 1]);
}

/* Of an operation that says itself when it began. */
static void samples_take_own(unsigned count, uint32_t overhead)
{
	for (unsigned i = 0; i < count; i++) {
		operation->run();
		samples[i] = (uint32_t)time_stamp() - operation->began() - overhead;
	}
}

/* Everything that the measuring loop touches has been touched when it begins. */
static void samples_take(unsigned count, uint32_t overhead)
{
	for (unsigned i = 0; i < count; i++)
		samples[i] = 1;
	for (unsigned i = 0; i < WARM_UP; i++)
		operation->run();
	if (operation->began) {
		samples_take_own(count, overhead);
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		uint64_t start = time_stamp();

		operation->run();
		samples[i] = (uint32_t)(time_stamp() - start - overhead) / operation->parts;
	}
}

static void sample(unsigned count)
{
	uint32_t overhead = overhead_find();
	struct interrupts before = interrupts_read();

	samples_take(count, overhead);
	line_text("sample=");
	line_text(operation->name);
	samples_print(count);
	line_field("overhead", overhead);
	interrupts_print(&before);
}

/* --- From outside --- */

static void interrupt_wait(void)
{
	uint64_t last = time_stamp(), now;

	while ((now = time_stamp()) - last < GAP)
		last = now;
}

static void count(unsigned runs)
{
	struct interrupts before;
	uint64_t start;

	for (unsigned i = 0; i < WARM_UP; i++)
		operation->run();
	interrupt_wait();
	before = interrupts_read();
	start = time_stamp();
	system_call(CALL_UMASK, 022, 0, 0);
	for (unsigned i = 0; i < runs; i++)
		operation->run();
	system_call(CALL_TIMES, 0, 0, 0);
	line_text("count=");
	line_text(operation->name);
	line_field("operations", (uint64_t)runs * operation->parts);
	line_field("ticks", time_stamp() - start);
	interrupts_print(&before);
}

/* --- A load --- */

/* Each round maps pages, fills them, takes writing away and gives it back, and unmaps them. */
static void flush(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		volatile char *region = system_map(FLUSH_PAGES * FLUSH_PAGE);

		if (!region)
			operation_fail("there is no memory");
		for (unsigned page = 0; page < FLUSH_PAGES; page++)
			region[page * FLUSH_PAGE] = 1;
		for (unsigned page = 0; page < FLUSH_PAGES; page++)
			system_call(CALL_MPROTECT, (long)&region[page * FLUSH_PAGE], FLUSH_PAGE,
				    PROT_READ);
		system_call(CALL_MPROTECT, (long)region, FLUSH_PAGES * FLUSH_PAGE,
			    PROT_READ | PROT_WRITE);
		if (system_call(CALL_MUNMAP, (long)region, FLUSH_PAGES * FLUSH_PAGE, 0) != 0)
			operation_fail("munmap failed");
	}
}

/* --- The command line --- */

static void list(void)
{
	for (operation = operations; operation->name; operation++) {
		line_text(operation->name);
		line_write(1);
	}
}

static void boot(void)
{
	uint64_t now = time_stamp();

	system_call(CALL_UMASK, 022, 0, 0);
	system_call(CALL_TIMES, 0, 0, 0);
	line_text("sample=boot samples=1");
	line_field("minimum", now);
	line_field("median", now);
	line_field("mean_times_100", now * 100);
	line_field("maximum", now);
	line_text(" overhead=0 timer=0 others=0");
	line_write(1);
}

static void find(const char *name)
{
	for (operation = operations; operation->name; operation++)
		if (text_is(operation->name, name))
			return;
	operation = NULL;
	operation_fail("there is no such operation; see `bench list`");
}

static void pause(void)
{
	struct timespec time = { 0, PAUSE_NANOSECONDS };

	system_call(CALL_NANOSLEEP, (long)&time, 0, 0);
}

static void run(char **arguments)
{
	unsigned number = (unsigned)text_number(arguments[3], NULL);

	find(arguments[2]);
	operation_argument = arguments[4];
	if (number < 1 || number > SAMPLES)
		operation_fail("N is 1 to 4096");
	pause();
	if (operation->prepare)
		operation->prepare();
	if (text_is(arguments[1], "sample"))
		sample(number);
	else
		count(number);
	operation_runs = WARM_UP + number;
	if (operation->finish)
		operation->finish();
	line_write(1);
}

/* The verbs of several CPUs (parallel.c). Returns false if it is none of those. */
static bool run_parallel(int count, char **arguments)
{
	const char *verb = arguments[1];

	if (count == 5 && text_is(verb, "together")) {
		find(arguments[2]);
		together((unsigned)text_number(arguments[3], NULL), arguments[4]);
	} else if (count >= 4 && text_is(verb, "elapsed")) {
		elapsed(arguments[2], &arguments[3]);
	} else {
		return false;
	}
	return true;
}

int program(int count, char **arguments)
{
	const char *verb = count > 1 ? arguments[1] : "";

	if (count == 2 && text_is(verb, "list")) {
		list();
	} else if (count == 2 && text_is(verb, "boot")) {
		boot();
	} else if (count == 3 && text_is(verb, "flush")) {
		flush((unsigned)text_number(arguments[2], NULL));
	} else if (count >= 4 && (text_is(verb, "sample") || text_is(verb, "count"))) {
		run(arguments);
	} else if (count < 4 || !run_parallel(count, arguments)) {
		line_text("usage: bench sample|count OPERATION N [PROGRAM-OR-SCRIPT]; "
			  "bench together OPERATION N CPUS; "
			  "bench elapsed NAME PROGRAM [ARGUMENT...]; "
			  "bench flush N; bench boot|list");
		line_write(2);
		return 2;
	}
	return 0;
}
