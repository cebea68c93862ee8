/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An unprivileged process that tries to reach what is its kernel's or the VMM's. Numbers are
 * hexadecimal:
 *	escape read ADDRESS		reads a word
 *	escape write ADDRESS		writes a word
 *	escape again ADDRESS NUMBER	reads a word until it may, or so often in vain
 *	escape jump SELECTOR ADDRESS	loads CS by a far jump, makes a system call, reads
 *	escape return SELECTOR ADDRESS	loads CS by an IRET, makes a system call, reads
 *	escape signal SELECTOR ADDRESS	loads CS by the frame of a signal that it has made, reads
 *	escape data SELECTOR ADDRESS	reads through a data segment
 *	escape call NUMBER		makes a hypercall
 *	escape flags EFLAGS		makes system calls with these flags
 *	escape stack ESP		makes system calls with this stack pointer
 *	escape ss SELECTOR ESP		makes them with this stack segment as well
 *	escape many NUMBER		makes so many system calls
 *	escape segment SELECTOR NUMBER	makes so many that have its kernel call the VMM, with FS and
 *					GS loaded by a selector
 * It ends with status 0 if that was carried out, with 1 if it does not know what to do, and with 3
 * if it tried again and again in vain. Mostly a signal ends it before.
 */
#include "process.h"

static unsigned long number(const char *text)
{
	unsigned long value = 0;

	for (; *text != '\0'; text++)
		value = value << 4 | (unsigned long)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static void jump(unsigned long selector)
{
	/* From the top: CS, EIP. LRET pops both, as a far jump loads them. */
	__asm__ volatile("push %0\n\tpush $1f\n\tlret\n1:" : : "r"(selector) : "memory");
}

static void return_to(unsigned long selector)
{
	/* From the top: EFLAGS, CS, EIP. */
	__asm__ volatile("pushf\n\tpush %0\n\tpush $1f\n\tiret\n1:" : : "r"(selector) : "memory");
}

static void read_word(unsigned long address)
{
	(void)*(volatile unsigned long *)address;
}

static void system_call_of_any_kind(void)
{
	system_call(SYSCALL_GETPPID, 0, 0, 0, 0, 0);
}

static void attack_read(unsigned long address, unsigned long unused)
{
	(void)unused;
	read_word(address);
}

static void attack_write(unsigned long address, unsigned long unused)
{
	(void)unused;
	*(volatile unsigned long *)address = 0;
}

/* Serves a signal: the three bytes of read_if_possible() that begin with its access are skipped.
 * The words above ESP are the return address and the signal's number, and behind them is what
 * sigreturn() loads, of which EIP is word 14. */
extern const char skip_access[];
__asm__("skip_access: addl $3, 8 + 14 * 4(%esp)\n\tret");

/* Returns 1 if the word can be read, and 0 if that has the kernel send a signal. */
static int read_if_possible(unsigned long address)
{
	int possible = 0;

	__asm__ volatile("mov (%%ebx), %%eax\n\tinc %%ecx" : "+c"(possible)
			 : "b"(address) : "eax", "memory", "cc");
	return possible;
}

/* Most of the time it is not in its kernel, so a vCPU that moves mostly goes on in this loop. */
static void attack_again(unsigned long address, unsigned long count)
{
	/* No flag, and no signal is masked. */
	const unsigned long action[5] = { (unsigned long)skip_access };

	if (system_call(SYSCALL_RT_SIGACTION, SIGNAL_SEGV, (unsigned long)action, 0, 8, 0) != 0)
		end(2);
	while (count-- > 0) {
		for (volatile int i = 0; i < 10000; i++)
			;
		if (read_if_possible(address))
			return;
	}
	end(3);
}

static void attack_jump(unsigned long selector, unsigned long address)
{
	jump(selector);
	system_call_of_any_kind();
	read_word(address);
}

static void attack_return(unsigned long selector, unsigned long address)
{
	return_to(selector);
	system_call_of_any_kind();
	read_word(address);
}

/* Of struct sigcontext, in words: what sigreturn() loads. */
enum { FRAME_ES = 2, FRAME_DS, FRAME_ESP = 7, FRAME_EBX, FRAME_EIP = 14, FRAME_CS, FRAME_EFLAGS,
       FRAME_SS = 18, FRAME_WORDS = 256 };
#define USER_DATA 0x7b
/* What a page may be used for: PROT_READ, PROT_WRITE. */
#define READABLE 1
#define WRITABLE 2

/* Reads a word at EBX and ends with status 0. */
extern const char read_and_end[];
__asm__("read_and_end: mov (%ebx), %eax\n\txor %ebx, %ebx\n\tmov $1, %eax\n\tint $0x80");

/* The kernel returns by IRET to whatever CS the frame has, with an RPL of 3. */
static void attack_signal(unsigned long selector, unsigned long address)
{
	static unsigned long frame[FRAME_WORDS];

	frame[FRAME_ES] = frame[FRAME_DS] = frame[FRAME_SS] = USER_DATA;
	frame[FRAME_EBX] = address;
	frame[FRAME_ESP] = (unsigned long)(frame + FRAME_WORDS);
	frame[FRAME_EIP] = (unsigned long)read_and_end;
	frame[FRAME_CS] = selector;
	frame[FRAME_EFLAGS] = 0x202;
	__asm__ volatile("mov %0, %%esp\n\tint $0x80" : : "r"(frame), "a"(SYSCALL_SIGRETURN)
			 : "memory");
}

static void attack_data(unsigned long selector, unsigned long address)
{
	__asm__ volatile("mov %w0, %%fs\n\tmov %%fs:(%1), %0"
			 : "+r"(selector)
			 : "r"(address)
			 : "memory");
}

static void attack_call(unsigned long call, unsigned long unused)
{
	(void)unused;
	__asm__ volatile("int $0x1e" : "+a"(call) : "b"(0), "c"(0), "d"(0) : "memory");
}

/* A system call must give what it always gives: the number of the parent, and not an error. */
static void parent_is_told(unsigned long parent)
{
	if ((long)parent <= 0)
		end(2);
}

static void attack_flags(unsigned long flags, unsigned long unused)
{
	unsigned long parent;

	(void)unused;
	for (int i = 0; i < 16; i++) {
		__asm__ volatile("push %1\n\tpopf\n\tint $0x80\n\tpush $2\n\tpopf"
				 : "=a"(parent)
				 : "r"(flags), "a"(SYSCALL_GETPPID)
				 : "memory", "cc");
		parent_is_told(parent);
	}
}

static void attack_stack(unsigned long esp, unsigned long unused)
{
	unsigned long parent;

	(void)unused;
	for (int i = 0; i < 16; i++) {
		__asm__ volatile("mov %%esp, %%esi\n\tmov %1, %%esp\n\tint $0x80\n\t"
				 "mov %%esi, %%esp"
				 : "=a"(parent)
				 : "r"(esp), "a"(SYSCALL_GETPPID)
				 : "esi", "memory", "cc");
		parent_is_told(parent);
	}
}

/* The stack pointer is loaded right behind SS, before any interrupt can come. */
static void attack_ss(unsigned long selector, unsigned long esp)
{
	unsigned long parent;

	for (int i = 0; i < 16; i++) {
		__asm__ volatile("mov %%esp, %%esi\n\tmov %%ss, %%edi\n\tmov %w1, %%ss\n\t"
				 "mov %2, %%esp\n\tint $0x80\n\tmov %%di, %%ss\n\tmov %%esi, %%esp"
				 : "=a"(parent)
				 : "r"(selector), "r"(esp), "a"(SYSCALL_GETPPID)
				 : "esi", "edi", "memory", "cc");
		parent_is_told(parent);
	}
}

static void attack_many(unsigned long count, unsigned long unused)
{
	(void)unused;
	while (count-- > 0)
		parent_is_told((unsigned long)system_call(SYSCALL_GETPPID, 0, 0, 0, 0, 0));
}

static void attack_segment(unsigned long selector, unsigned long count)
{
	static char page[4096] __attribute__((aligned(4096)));

	while (count-- > 0) {
		__asm__ volatile("mov %w0, %%fs\n\tmov %w0, %%gs" : : "r"(selector));
		if (system_call(SYSCALL_MPROTECT, (unsigned long)page, sizeof(page),
				count % 2 * WRITABLE + READABLE, 0, 0) != 0)
			end(2);
	}
}

static const struct {
	char name[8];
	void (*attack)(unsigned long first, unsigned long second);
} attacks[] = {
	{ "read", attack_read }, { "write", attack_write }, { "jump", attack_jump },
	{ "return", attack_return }, { "data", attack_data }, { "call", attack_call },
	{ "flags", attack_flags }, { "stack", attack_stack }, { "ss", attack_ss },
	{ "many", attack_many }, { "signal", attack_signal },
	{ "segment", attack_segment }, { "again", attack_again },
};

static int equal(const char *one, const char *other)
{
	for (; *one != '\0' && *one == *other; one++)
		other++;
	return *one == *other;
}

void run(int count, char **arguments)
{
	unsigned long second = count > 3 ? number(arguments[3]) : 0;

	if (count < 3 || !become_nobody())
		end(1);
	for (unsigned long i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
		if (equal(attacks[i].name, arguments[1])) {
			attacks[i].attack(number(arguments[2]), second);
			end(0);
		}
	end(1);
}
