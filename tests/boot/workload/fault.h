/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process has that goes on behind an instruction that faults. The file that includes this
 * says how many bytes that has: FAULT_BYTES, as text.
 */
#pragma once

#define SYSCALL_SIGACTION 67
#define WITH_RESTORER 0x04000000u

/* Counts the fault, and steps over the instruction: EIP is the 15th word of the context behind the
 * return address and the signal's number. */
void fault(void);
void restore(void);
volatile unsigned faults;
__asm__("fault:\n\t"
	"addl $" FAULT_BYTES ", 64(%esp)\n\t"
	"incl faults\n\t"
	"ret\n"
	"restore:\n\t"
	"pop %eax\n\t"
	"mov $119, %eax\n\t"
	"int $0x80\n");

/* struct old_sigaction. */
static struct {
	void (*handler)(void);
	unsigned long mask;
	unsigned long flags;
	void (*restorer)(void);
} action = { fault, 0, WITH_RESTORER, restore };
