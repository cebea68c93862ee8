/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of the tests has: it is static and without a library, so that it runs on any Linux
 * for i386. The file that includes this defines run().
 */
#pragma once

#define SYSCALL_EXIT 1
#define SYSCALL_FORK 2
#define SYSCALL_READ 3
#define SYSCALL_WRITE 4
#define SYSCALL_OPEN 5
#define SYSCALL_CLOSE 6
#define SYSCALL_GETPPID 64
#define SYSCALL_SIGRETURN 119
#define SYSCALL_MPROTECT 125
#define SYSCALL_RT_SIGACTION 174
#define SYSCALL_MMAP2 192
#define SYSCALL_SETRESUID32 208
#define NOBODY 65534
#define SIGNAL_SEGV 11

/* As main(); the process ends by end() only. */
void run(int count, char **arguments);

static int system_call(int number, unsigned long first, unsigned long second, unsigned long third,
		       unsigned long fourth, unsigned long fifth)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(first), "c"(second), "d"(third), "S"(fourth), "D"(fifth)
			 : "memory");
	return result;
}

/* One of three arguments, which takes no register more than it needs: what is measured uses it. */
static inline int system_call3(int number, unsigned long first, unsigned long second,
			       unsigned long third)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(number), "b"(first), "c"(second), "d"(third)
			 : "memory");
	return result;
}

static void end(int status)
{
	system_call(SYSCALL_EXIT, (unsigned long)status, 0, 0, 0, 0);
}

/* Ends the process with the number of the line at which something is not as it must be. */
#define CHECK(condition) \
	do { \
		if (!(condition)) \
			end(__LINE__); \
	} while (0)

/* From here on it has no privileges; false if it keeps them. */
static inline int become_nobody(void)
{
	return system_call(SYSCALL_SETRESUID32, NOBODY, NOBODY, NOBODY, 0, 0) == 0;
}

/* The kernel leaves, from ESP up: the number of arguments, pointers to them. run() gets both. */
__asm__(".globl _start\n"
	"_start:\n\t"
	"mov (%esp), %eax\n\t"
	"lea 4(%esp), %edx\n\t"
	"and $-16, %esp\n\t"
	"sub $8, %esp\n\t"
	"push %edx\n\t"
	"push %eax\n\t"
	"call run\n");
