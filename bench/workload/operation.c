/* SPDX-License-Identifier: Apache-2.0 */
/* The operations, each with a check that it did what it is measured for. */
#include "operation.h"

#include "channel.h"
#include "network.h"
#include "system.h"
#include "threads.h"

#define PAGE 4096u
/* As many pages as page_fault can touch. */
#define PAGES 1024u
/* Processes of context_switch, the measuring one included. */
#define RING 8u

static char program_nothing[] = "/bin/bench-nothing";
static char program_shell[] = "/bin/sh";
char *operation_argument;

/* --- System call, signal --- */

static void syscall_run(void)
{
	check(system_call(CALL_GETPPID, 0, 0, 0) > 0, "there is no parent");
}

static volatile unsigned signals;
static long process;

static void signal_count(int number)
{
	signals += number == SIGUSR1;
}

static void signal_prepare(void)
{
	process = system_call(CALL_GETPID, 0, 0, 0);
	check(system_handle(SIGUSR1, signal_count) == 0, "the signal cannot be handled");
}

static void signal_run(void)
{
	unsigned before = signals;

	check(system_call(CALL_KILL, process, SIGUSR1, 0) == 0, "the signal cannot be sent");
	check(signals == before + 1, "the signal was not handled");
}

/* --- Memory --- */

static volatile char *region;
static unsigned touched;

static void region_make(size_t size)
{
	region = system_map(size);
	check(region != NULL, "there is no memory");
}

/* Also makes the page tables at both ends, so that hardly any fault that is measured has to. */
static void page_fault_prepare(void)
{
	region_make(PAGES * PAGE);
	region[0] = 1;
	region[PAGE * (PAGES - 1)] = 1;
	touched = 1;
}

static void page_fault_run(void)
{
	volatile char *page = region + PAGE * touched++;

	check(touched < PAGES, "all pages have been touched");
	/* Read first, the page would fault twice. */
	page[0] = 1;
	check(page[1] == 0, "a new page is not empty");
}

static void page_fault_finish(void)
{
	check(system_call(CALL_MUNMAP, (long)region, PAGES * PAGE, 0) == 0, "munmap failed");
}

static void mmap_run(void)
{
	volatile char *page = system_map(PAGE);

	check(page != NULL, "mmap failed");
	*page = 1;
	check(system_call(CALL_MUNMAP, (long)page, PAGE, 0) == 0, "munmap failed");
}

static void mprotect_prepare(void)
{
	region_make(PAGE);
	region[0] = 1;
}

static void mprotect_run(void)
{
	check(system_call(CALL_MPROTECT, (long)region, PAGE, PROT_READ) == 0, "mprotect failed");
	check(system_call(CALL_MPROTECT, (long)region, PAGE, PROT_READ | PROT_WRITE) == 0,
	      "mprotect failed");
}

static void mprotect_finish(void)
{
	region[0]++;
	check(region[0] == 2, "the page has changed");
}

/* --- Pipes --- */

/* [i] leads to process i of the ring; the measuring one is process 0. */
static int pipes[RING][2];
static unsigned ring;
static char token;

static void token_send(unsigned to)
{
	check(system_write(pipes[to][1], &token, 1) == 1, "a pipe takes nothing");
}

static void token_take(char expected)
{
	check(system_read(pipes[0][0], &token, 1) == 1 && token == expected,
	      "a pipe gives something else");
}

/* A process of the ring: adds 1 to the token and passes it on, until it is 0. */
static void __attribute__((noreturn)) ring_process(unsigned number)
{
	do {
		if (system_read(pipes[number][0], &token, 1) != 1)
			system_exit(1);
		if (token)
			token++;
		token_send((number + 1) % ring);
	} while (token);
	system_exit(0);
}

static void ring_prepare(unsigned size)
{
	ring = size;
	for (unsigned i = 0; i < ring; i++)
		check(system_call(CALL_PIPE, (long)pipes[i], 0, 0) == 0, "there is no pipe");
	for (unsigned i = 1; i < ring; i++) {
		long child = system_call(CALL_FORK, 0, 0, 0);

		check(child >= 0, "fork failed");
		if (child == 0)
			ring_process(i);
	}
}

static void ring_run(void)
{
	token = 1;
	token_send(1 % ring);
	token_take((char)ring);
}

static void ring_finish(void)
{
	int status;

	token = 0;
	token_send(1 % ring);
	token_take(0);
	for (unsigned i = 1; i < ring; i++)
		check(system_call6(CALL_WAIT4, -1, (long)&status, 0, 0, 0, 0) > 0 && status == 0,
		      "a process of the ring failed");
}

static void pipe_self_prepare(void)
{
	ring_prepare(1);
}

static void pipe_prepare(void)
{
	ring_prepare(2);
}

static void context_switch_prepare(void)
{
	ring_prepare(RING);
}

/* --- Interrupts --- */

static long rtc;
/* When the handler of the interrupt began that ended the last wait. */
static uint32_t rtc_stamp;

static void rtc_latency_prepare(void)
{
	rtc = system_call(CALL_OPEN, (long)"/dev/gandalf-rtc", O_RDONLY, 0);
	check(rtc >= 0, "there is no /dev/gandalf-rtc, which only our own kernels have");
}

static void rtc_latency_run(void)
{
	uint32_t before = rtc_stamp;

	check(system_read((int)rtc, &rtc_stamp, sizeof(rtc_stamp)) == sizeof(rtc_stamp),
	      "no interrupt came");
	check(rtc_stamp != before, "the interrupt is an old one");
}

static uint32_t rtc_latency_began(void)
{
	return rtc_stamp;
}

static void rtc_latency_finish(void)
{
	check(system_call(CALL_CLOSE, rtc, 0, 0) == 0, "the clock cannot be closed");
}

/* --- Somebody else's turns --- */

/* When the process was interrupted last. */
static uint32_t turn_began;

/* Waits for a gap between two time stamps. */
static void turn_run(void)
{
	uint64_t last, now = time_stamp();

	do {
		last = now;
		now = time_stamp();
	} while (now - last < GAP);
	turn_began = (uint32_t)last;
}

static uint32_t turn_began_at(void)
{
	return turn_began;
}

/* --- Processes --- */

static void child_wait(long child)
{
	int status = 1;

	check(child > 0, "fork failed");
	check(system_call6(CALL_WAIT4, child, (long)&status, 0, 0, 0, 0) == child, "wait failed");
	check(status == 0, "the child failed");
}

static void fork_exit_run(void)
{
	long child = system_call(CALL_FORK, 0, 0, 0);

	if (child == 0)
		system_exit(0);
	child_wait(child);
}

static void fork_exec_run(void)
{
	long child = system_call(CALL_FORK, 0, 0, 0);

	if (child == 0) {
		char *arguments[] = { program_nothing, NULL };

		system_call(CALL_EXECVE, (long)program_nothing, (long)arguments,
			    (long)&arguments[1]);
		system_exit(127);
	}
	child_wait(child);
}

/* The child's output goes nowhere. */
static void execute(char *path, char *argument)
{
	static char search_path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char *environment[] = { search_path, NULL };
	char *arguments[] = { path, argument, NULL };
	long child = system_call(CALL_FORK, 0, 0, 0);

	if (child == 0) {
		long nowhere = system_call(CALL_OPEN, (long)"/dev/null", O_WRONLY, 0);

		if (system_call(CALL_DUP2, nowhere, 1, 0) != 1)
			system_exit(1);
		system_call(CALL_EXECVE, (long)path, (long)arguments, (long)environment);
		system_exit(127);
	}
	child_wait(child);
}

static void argument_need(void)
{
	check(operation_argument != NULL, "it needs a program or script");
}

static void exec_dynamic_run(void)
{
	static char help[] = "-h";

	execute(operation_argument, help);
}

static void shell_run(void)
{
	execute(program_shell, operation_argument);
}

const struct operation operations[] = {
	{ .name = "syscall", .run = syscall_run, .parts = 1 },
	{ .name = "signal", .prepare = signal_prepare, .run = signal_run, .parts = 1 },
	{ .name = "page_fault", .prepare = page_fault_prepare,
	  .run = page_fault_run, .finish = page_fault_finish, .parts = 1 },
	{ .name = "mmap", .run = mmap_run, .parts = 1 },
	{ .name = "mprotect", .prepare = mprotect_prepare,
	  .run = mprotect_run, .finish = mprotect_finish, .parts = 1 },
	{ .name = "pipe_self", .prepare = pipe_self_prepare,
	  .run = ring_run, .finish = ring_finish, .parts = 1 },
	{ .name = "pipe", .prepare = pipe_prepare,
	  .run = ring_run, .finish = ring_finish, .parts = 1 },
	{ .name = "context_switch", .prepare = context_switch_prepare,
	  .run = ring_run, .finish = ring_finish, .parts = RING },
	{ .name = "fork_exit", .run = fork_exit_run, .parts = 1 },
	{ .name = "fork_exec", .run = fork_exec_run, .parts = 1 },
	{ .name = "exec_dynamic", .prepare = argument_need, .run = exec_dynamic_run, .parts = 1 },
	{ .name = "shell", .prepare = argument_need, .run = shell_run, .parts = 1 },
	{ .name = "rtc_latency", .prepare = rtc_latency_prepare, .run = rtc_latency_run,
	  .finish = rtc_latency_finish, .began = rtc_latency_began, .parts = 1 },
	{ .name = "rtos_task_cost", .run = turn_run, .began = turn_began_at, .parts = 1 },
	{ .name = "channel_round_trip", .prepare = channel_round_trip_prepare,
	  .run = channel_round_trip_run, .finish = channel_finish, .parts = 1 },
	{ .name = "channel_throughput", .prepare = channel_throughput_prepare,
	  .run = channel_throughput_run, .finish = channel_finish, .parts = 1 },
	{ .name = "channel_throughput_back", .prepare = channel_throughput_prepare,
	  .run = channel_throughput_back_run, .finish = channel_finish, .parts = 1 },
	{ .name = "ipi", .prepare = ipi_prepare, .run = ipi_run, .finish = ipi_finish, .parts = 1 },
	{ .name = "shootdown", .prepare = shootdown_prepare, .run = shootdown_run,
	  .finish = shootdown_finish, .began = shootdown_began, .parts = 1 },
	{ .name = "shootdown_apart", .prepare = shootdown_prepare, .run = shootdown_apart_run,
	  .finish = shootdown_finish, .began = shootdown_began, .parts = 1 },
	{ .name = "network_send", .prepare = network_prepare, .run = network_send_run,
	  .finish = network_finish, .parts = 1 },
	{ .name = "network_round_trip", .prepare = network_prepare,
	  .run = network_round_trip_run, .finish = network_finish, .parts = 1 },
	{ .name = NULL },
};
