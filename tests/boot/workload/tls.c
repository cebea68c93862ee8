/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An unprivileged process whose stack segment ceases to be one, so that the VMM would fault when it
 * returns to it.
 *	tls flip TURNS
 * Under strict_tls the VMM shows one of two halves of a segment for thread-local storage, and turns
 * to the other at a general protection fault. With the lower half shown, behind so many turns, the
 * segment becomes one that expands down: there is no other half. It is in SS, and CLI faults.
 *	tls fill
 * Such a segment is in SS while the process has the VMM fill its shadow page tables, and return to
 * it, all the time: somebody else takes it away.
 *
 * It ends with status 1 if it could not begin, and with 2 if it got no signal.
 */
#include "process.h"

/* Of CLI. */
#define FAULT_BYTES "1"
#include "fault.h"

#define SYSCALL_SET_THREAD_AREA 243
/* Memory whose pages are there at once. */
#define MEMORY 0x10000000u
#define MEMORY_SIZE 0x800000u
#define MEMORY_FLAGS 0x8032 /* private, at this address, of nothing, with all pages */
#define READ 1
#define WRITE 2

/* Of the descriptor that set_thread_area() makes. */
#define ANY_ENTRY (~0u)
#define BASE 0x1000u
#define PAGES 0xfffffu
#define IS_32_BIT 0x01u
#define EXPANDS_DOWN 0x02u
#define IN_PAGES 0x10u
#define USABLE 0x40u

/* struct user_desc; entry_number is written if it is ANY_ENTRY. */
static struct {
	unsigned entry_number, base, limit, flags;
} area = { ANY_ENTRY, BASE, PAGES, IS_32_BIT | IN_PAGES | USABLE };

static void action_set(void (*handler)(void))
{
	action.handler = handler;
	if (system_call(SYSCALL_SIGACTION, SIGNAL_SEGV, (unsigned long)&action, 0, 0, 0) != 0)
		end(1);
}

static void area_set(void)
{
	if (system_call(SYSCALL_SET_THREAD_AREA, (unsigned long)&area, 0, 0, 0, 0) != 0)
		end(1);
}

/* The VMM turns once only at the same registers, and those of the last process count: so one of
 * them holds a number. */
static void turn(unsigned selector, int number)
{
	__asm__ volatile("mov %%ds, %%edx\n\tmov %0, %%ds\n\tcli\n\tmov %%edx, %%ds"
			 : : "r"(selector), "c"(number) : "edx", "memory", "cc");
}

static void flip(unsigned selector, int turns)
{
	action_set(fault);
	for (int i = 0; i < turns; i++)
		turn(selector, turns * 16 + i);
	action_set(0);
	area.flags |= EXPANDS_DOWN;
	area_set();
	__asm__ volatile("mov %0, %%ds\n\tmov %0, %%ss\n\tcli" : : "r"(selector));
}

/* The protection changes, so that the VMM forgets all pages, and each is read again. */
static void fill(unsigned selector)
{
	static const char fills[] = "fills\n";

	if (system_call(SYSCALL_MMAP2, MEMORY, MEMORY_SIZE, READ | WRITE, MEMORY_FLAGS, ~0ul) !=
	    (int)MEMORY)
		end(1);
	system_call(SYSCALL_WRITE, 1, (unsigned long)fills, sizeof(fills) - 1, 0, 0);
	__asm__ volatile("mov %0, %%ss\n"
			 "1:\tmov %1, %%eax\n\txor %5, %%edx\n\tint $0x80\n\tmov %%ebx, %%esi\n"
			 "2:\tmov (%%esi), %%eax\n\tadd %4, %%esi\n\tcmp %3, %%esi\n\tjb 2b\n\t"
			 "jmp 1b"
			 :
			 : "r"(selector), "i"(SYSCALL_MPROTECT), "b"(MEMORY),
			   "i"(MEMORY + MEMORY_SIZE), "i"(0x1000), "i"(WRITE), "c"(MEMORY_SIZE),
			   "d"(READ | WRITE));
}

void run(int count, char **arguments)
{
	unsigned selector;

	if (count < 2 || !become_nobody())
		end(1);
	area_set();
	selector = area.entry_number * 8 + 3;
	if (count == 3)
		flip(selector, arguments[2][0] - '0');
	else
		fill(selector);
	end(2);
}
