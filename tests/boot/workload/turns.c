/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns PROCESSES ROUNDS, in decimal: processes in a ring, of which each waits for a byte from the
 * one before it, reads pages of its own, and passes the byte on. Prints what a turn takes, in ticks
 * of the time stamp counter. It ends with status 3 if a process finds in its pages what it has not
 * put there.
 */
#include "process.h"

#define SYSCALL_FORK 2
#define SYSCALL_READ 3
#define SYSCALL_WAITPID 7
#define SYSCALL_PIPE 42
#define PAGE_SIZE 4096
#define PAGES 16
#define MOST 64

static char pages[PAGES][PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static int pipes[MOST][2];

static unsigned ticks(void)
{
	unsigned low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low;
}

static int number(const char *text)
{
	int value = 0;

	for (; *text != '\0'; text++)
		value = value * 10 + *text - '0';
	return value;
}

static void print(unsigned value)
{
	char text[12];
	unsigned long place = sizeof(text);

	text[--place] = '\n';
	do
		text[--place] = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	system_call3(SYSCALL_WRITE, 1, (unsigned long)&text[place], sizeof(text) - place);
}

static void fill(int process)
{
	for (int i = 0; i < PAGES; i++)
		pages[i][process] = (char)(process + 1);
}

/* Writes a byte to a process's pipe, or reads one from it. */
static void byte_moves(int call, int pipe)
{
	char byte = 0;

	if (system_call3(call, (unsigned long)pipe, (unsigned long)&byte, 1) != 1)
		end(2);
}

static void turn(int process, int count)
{
	byte_moves(SYSCALL_READ, pipes[process][0]);
	for (int i = 0; i < PAGES; i++)
		if (pages[i][process] != (char)(process + 1))
			end(3);
	byte_moves(SYSCALL_WRITE, pipes[(process + 1) % count][1]);
}

/* Starts all processes but the first, which is this one. */
static void start(int count, int rounds)
{
	for (int i = 0; i < count; i++)
		if (system_call3(SYSCALL_PIPE, (unsigned long)pipes[i], 0, 0) != 0)
			end(2);
	for (int i = 1; i < count; i++) {
		int child = system_call3(SYSCALL_FORK, 0, 0, 0);

		if (child < 0)
			end(2);
		if (child != 0)
			continue;
		fill(i);
		while (rounds-- > 0)
			turn(i, count);
		end(0);
	}
}

void run(int count, char **arguments)
{
	int processes = count > 1 ? number(arguments[1]) : 0;
	int rounds = count > 2 ? number(arguments[2]) : 0;
	int status = 0, failed = 0;
	unsigned before;

	if (processes < 1 || processes > MOST || rounds < 2)
		end(2);
	start(processes, rounds);
	fill(0);
	byte_moves(SYSCALL_WRITE, pipes[0][1]);
	/* The first round is each process's first time in its pages. */
	turn(0, processes);
	before = ticks();
	for (int i = 1; i < rounds; i++)
		turn(0, processes);
	print((ticks() - before) / (unsigned)((rounds - 1) * processes));
	while (system_call3(SYSCALL_WAITPID, ~0ul, (unsigned long)&status, 0) > 0)
		failed |= status;
	end(failed == 0 ? 0 : 3);
}
