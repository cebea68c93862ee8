/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux's system calls for a program without a library, for i386 and amd64: the same source makes
 * the same calls on both. A result of -1 to -4095 is an error number.
 *
 * On i386 they go the way that the C library's go, by the entry that the kernel offers in memory:
 * SYSENTER if the CPU has it and the kernel uses it, `int 0x80` if not.
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#define AT_NULL 0
#define AT_SYSINFO 32

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x20
#define SIGUSR1 10
#define SIGPIPE 13
#define SA_SIGINFO 4
#define SA_RESTORER 0x04000000

#ifdef __x86_64__
enum {
	CALL_READ = 0,
	CALL_WRITE = 1,
	CALL_OPEN = 2,
	CALL_CLOSE = 3,
	CALL_MMAP = 9,
	CALL_MPROTECT = 10,
	CALL_MUNMAP = 11,
	CALL_SIGACTION = 13, /* rt_sigaction */
	CALL_PIPE = 22,
	CALL_IOCTL = 16,
	CALL_DUP2 = 33,
	CALL_NANOSLEEP = 35,
	CALL_GETPID = 39,
	CALL_SOCKET = 41,
	CALL_CONNECT = 42,
	CALL_SHUTDOWN = 48,
	CALL_BIND = 49,
	CALL_SETSOCKOPT = 54,
	CALL_FORK = 57,
	CALL_EXECVE = 59,
	CALL_EXIT = 60,
	CALL_WAIT4 = 61,
	CALL_KILL = 62,
	CALL_UMASK = 95,
	CALL_TIMES = 100,
	CALL_GETPPID = 110,
	CALL_SETSCHEDULER = 144, /* sched_setscheduler */
	CALL_SETAFFINITY = 203, /* sched_setaffinity */
	CALL_CLOCK_GETTIME = 228,
	CALL_CLOCK_NANOSLEEP = 230,
	CALL_MEMBARRIER = 324,
};
#else
enum {
	CALL_EXIT = 1,
	CALL_FORK = 2,
	CALL_READ = 3,
	CALL_WRITE = 4,
	CALL_OPEN = 5,
	CALL_CLOSE = 6,
	CALL_EXECVE = 11,
	CALL_GETPID = 20,
	CALL_KILL = 37,
	CALL_PIPE = 42,
	CALL_TIMES = 43,
	CALL_IOCTL = 54,
	CALL_UMASK = 60,
	CALL_DUP2 = 63,
	CALL_GETPPID = 64,
	CALL_MUNMAP = 91,
	CALL_WAIT4 = 114,
	CALL_MPROTECT = 125,
	CALL_SETSCHEDULER = 156, /* sched_setscheduler */
	CALL_NANOSLEEP = 162,
	CALL_SIGACTION = 174, /* rt_sigaction */
	CALL_MMAP = 192,      /* mmap2 */
	CALL_SETAFFINITY = 241, /* sched_setaffinity */
	CALL_CLOCK_GETTIME = 265,
	CALL_CLOCK_NANOSLEEP = 267,
	CALL_SOCKET = 359,
	CALL_BIND = 361,
	CALL_CONNECT = 362,
	CALL_SETSOCKOPT = 366,
	CALL_SHUTDOWN = 373,
	CALL_MEMBARRIER = 375,
};
#endif

struct timespec {
	long seconds, nanoseconds;
};

/* As the kernel takes it. */
struct signal_action {
	void (*handler)(int number);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask[64 / (8 * sizeof(long))];
};

/* What the kernel offers for system calls on i386; it is in the auxiliary vector. */
extern void *system_entry;

#ifdef __x86_64__
static inline long system_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}
#else
long system_call6(long number, long a, long b, long c, long d, long e, long f);

static inline long system_call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("call *system_entry"
			 : "=a"(result)
			 : "0"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}
#endif

static inline uint64_t time_stamp(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

static inline long system_write(int file, const void *data, size_t size)
{
	return system_call(CALL_WRITE, file, (long)data, (long)size);
}

static inline long system_read(int file, void *data, size_t size)
{
	return system_call(CALL_READ, file, (long)data, (long)size);
}

static inline void __attribute__((noreturn)) system_exit(int status)
{
	for (;;)
		system_call(CALL_EXIT, status, 0, 0);
}

/* Has the kernel call handler() for a signal, with the frame that both architectures have.
 * Returns 0 or an error. */
long system_handle(int signal, void (*handler)(int number));

/* Anonymous memory, filled with zeros when it is touched; NULL: there is none. */
void *system_map(size_t size);
/* The same, which the process will share with those that it forks. */
void *system_map_shared(size_t size);

/* Starts a thread, which has all but its stack in common with its process. top: the end of that,
 * which is aligned to 16 bytes. The function must not return. Returns 0 or less if it fails. */
long system_thread(void (*function)(void), void *top);

/* Has the calling thread run on a CPU only. Returns 0 or an error. */
long system_stay_on(unsigned cpu);
/* On any. */
long system_run_anywhere(void);

/* A program starts here, called by the entry in system.c. Returns its exit status. */
int program(int count, char **arguments);

#endif
