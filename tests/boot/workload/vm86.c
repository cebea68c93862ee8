/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An unprivileged process that enters virtual-8086 mode by itself, with an IRET to EFLAGS.VM, as
 * QEMU lets it and no CPU does. What it executes there comes as numbers, hexadecimal:
 *	vm86 CODE CS EFLAGS
 * CODE: four bytes of instructions. It ends with status 1 if it could not begin, and with 2 if the
 * IRET did something else.
 */
#include "process.h"

#define PROTECTION 7 /* read, write, execute */
#define FLAGS 0x32   /* private, at this address, of nothing */
#define MEMORY 0x10000u
#define EFLAGS_VM 0x20000u

/* Where QEMU goes on in virtual-8086 mode: the data segment is mapped nowhere. */
#define DATA_SEGMENT 0x4000

static unsigned long number(const char *text)
{
	unsigned long value = 0;

	for (; *text != '\0'; text++)
		value = value << 4 | (unsigned long)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

static void mode_enter(unsigned long cs, unsigned long eflags)
{
	/* From the top: GS, FS, DS, ES, SS, ESP, EFLAGS, CS, EIP. */
	__asm__ volatile("push $0\n\tpush $0\n\tpush %0\n\tpush $0\n\tpush %1\n\tpush $0x800\n\t"
			 "push %2\n\tpush %1\n\tpush $0\n\tiret"
			 :
			 : "i"(DATA_SEGMENT), "r"(cs), "r"(eflags | EFLAGS_VM)
			 : "memory");
}

void run(int count, char **arguments)
{
	unsigned long cs;

	if (count != 4 ||
	    system_call(SYSCALL_MMAP2, MEMORY, MEMORY, PROTECTION, FLAGS, ~0ul) != (int)MEMORY ||
	    !become_nobody())
		end(1);
	cs = number(arguments[2]);
	*(unsigned long *)(cs * 16) = number(arguments[1]);
	mode_enter(cs, number(arguments[3]));
	end(2);
}
