/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program bench-turns: bench.c with other operations. Processes in a ring have a byte in turn,
 * and each reads pages of its own when it has it, so that a shadow of its address space that is
 * found again is worth something. The measuring one is the first. In bench itself this would be a
 * page of code more, for which its forks would pay.
 */
#include "operation.h"
#include "system.h"

#define PAGE 4096u
#define PAGES 16u
#define PROCESSES 64u

char *operation_argument;
static char pages[PAGES][PAGE] __attribute__((aligned(PAGE)));
/* [i] leads to process i. */
static int pipes[PROCESSES][2];
/* What is passed on; false: the processes end. */
static char goes_on;

static void pages_fill(unsigned process)
{
	for (unsigned i = 0; i < PAGES; i++)
		pages[i][process] = (char)(process + 1);
}

static void pages_read(unsigned process)
{
	for (unsigned i = 0; i < PAGES; i++)
		check(pages[i][process] == (char)(process + 1), "a page is another process's");
}

static void turn_take(unsigned process)
{
	check(system_read(pipes[process][0], &goes_on, 1) == 1, "a pipe gives nothing");
	pages_read(process);
}

static void turn_give(unsigned process)
{
	check(system_write(pipes[process % operation->parts][1], &goes_on, 1) == 1,
	      "a pipe takes nothing");
}

static void __attribute__((noreturn)) process_run(unsigned process)
{
	pages_fill(process);
	do {
		turn_take(process);
		turn_give(process + 1);
	} while (goes_on);
	system_exit(0);
}

static void turns_prepare(void)
{
	for (unsigned i = 0; i < operation->parts; i++)
		check(system_call(CALL_PIPE, (long)pipes[i], 0, 0) == 0, "there is no pipe");
	for (unsigned i = 1; i < operation->parts; i++) {
		long child = system_call(CALL_FORK, 0, 0, 0);

		check(child >= 0, "fork failed");
		if (child == 0)
			process_run(i);
	}
	pages_fill(0);
}

static void turns_run(void)
{
	goes_on = 1;
	turn_give(1);
	turn_take(0);
}

static void turns_finish(void)
{
	int status;

	goes_on = 0;
	turn_give(1);
	turn_take(0);
	for (unsigned i = 1; i < operation->parts; i++)
		check(system_call6(CALL_WAIT4, -1, (long)&status, 0, 0, 0, 0) > 0 && status == 0,
		      "a process of the ring failed");
}

/* As many processes as the operation has parts. */
#define TURNS(processes)                                                                          \
	{                                                                                         \
		.name = "turns_" #processes, .prepare = turns_prepare, .run = turns_run,          \
		.finish = turns_finish, .parts = (processes)                                      \
	}

const struct operation operations[] = {
	TURNS(1), TURNS(4), TURNS(16), TURNS(64), { .name = NULL },
};
