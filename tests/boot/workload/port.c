/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that asks its kernel for ports, and uses one.
 *	port LEVEL FIRST COUNT TAKEN PORT SIZE [READS [BYTE]]
 * LEVEL is for iopl(); 10 has the process ask as nobody and not as root. COUNT ports from FIRST
 * on are asked for by ioperm(), and the first TAKEN of them given back. Then PORT is read as SIZE
 * bytes (1, 2 or 4), READS times, or once, after BYTE was written to it if one is given. Numbers
 * are hexadecimal. It prints what it has read last, or "fault", or "refused" if the kernel would
 * not.
 */
#include "process.h"

#define SYSCALL_IOPERM 101
#define SYSCALL_IOPL 110
#define AS_NOBODY 0x10

struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask[2];
};

static unsigned long number(const char *text)
{
	unsigned long value = 0;

	for (; *text != '\0'; text++)
		value = value << 4 | (unsigned long)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static void say(const char *text)
{
	unsigned long size = 0;

	while (text[size] != '\0')
		size++;
	system_call(SYSCALL_WRITE, 1, (unsigned long)text, size, 0, 0);
}

static void on_fault(int signal)
{
	(void)signal;
	say("fault\n");
	end(0);
}

static unsigned long port_read(unsigned long port, unsigned long size)
{
	unsigned long value = 0;

	if (size == 1)
		__asm__ volatile("inb %w1, %b0" : "+a"(value) : "d"(port));
	else if (size == 2)
		__asm__ volatile("inw %w1, %w0" : "+a"(value) : "d"(port));
	else
		__asm__ volatile("inl %w1, %0" : "+a"(value) : "d"(port));
	return value;
}

static void ports_ask(unsigned long level, unsigned long first, unsigned long count,
		      unsigned long taken)
{
	int failed = 0;

	if (level == AS_NOBODY)
		failed = !become_nobody();
	else if (level != 0)
		failed = system_call(SYSCALL_IOPL, level, 0, 0, 0, 0);
	if (count != 0 && failed == 0)
		failed = system_call(SYSCALL_IOPERM, first, count, 1, 0, 0);
	if (taken != 0 && failed == 0)
		failed = system_call(SYSCALL_IOPERM, first, taken, 0, 0, 0);
	if (failed != 0) {
		say("refused\n");
		end(0);
	}
}

void run(int count, char **arguments)
{
	struct action action = { on_fault, 0, 0, { 0, 0 } };
	unsigned long numbers[9] = { 0, 0, 0, 0, 0, 0, 0, 1, 0 }, value = 0;
	char text[10];

	if (count < 7 || count > 9)
		end(1);
	for (int i = 1; i < count; i++)
		numbers[i] = number(arguments[i]);
	system_call(SYSCALL_RT_SIGACTION, SIGNAL_SEGV, (unsigned long)&action, 0,
		    sizeof(action.mask), 0);
	ports_ask(numbers[1], numbers[2], numbers[3], numbers[4]);
	if (count == 9)
		__asm__ volatile("outb %b0, %w1" : : "a"(numbers[8]), "d"(numbers[5]));
	for (unsigned long i = 0; i < numbers[7]; i++)
		value = port_read(numbers[5], numbers[6]);
	for (int i = 7; i >= 0; i--, value >>= 4)
		text[i] = "0123456789abcdef"[value & 15];
	text[8] = '\n';
	text[9] = '\0';
	say(text);
	end(0);
}
