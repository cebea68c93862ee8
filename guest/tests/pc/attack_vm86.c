/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attack of pc-attack.elf: virtual-8086 mode, by an IRET with EFLAGS.VM, which a CPU ignores in
 * ring 1, and QEMU does not. From there exceptions push four words more, and CS is any number.
 *
 *	vm86 CODE CS EFLAGS
 *
 * CODE: four bytes of instructions. A timer interrupts meanwhile.
 */
#include "attack.h"

#include "print.h"

#define EFLAGS_VM 0x20000U
/* The page that it runs in and the one of its data, which is not for it; real-mode segments. */
#define CODE_PAGE 0x10U
#define DATA_SEGMENT 0x4000U


/* entry.S: where the kernel goes on behind a trap from ring 3. */
extern uint32_t user_run_stack;

/* A trap from there, which is one from ring 3, or of the IRET itself ends it. */
static void __attribute__((noinline)) mode_enter(uint32_t cs, uint32_t eflags)
{
	static uint32_t saved;

	trap.count = 0;
	/* From the top: GS, FS, DS, ES, SS, ESP, EFLAGS, CS, EIP. */
	__asm__ volatile("movl %%esp, %0\n\tmovl $1f, trap_resume\n\t"
			 "pushl $1f\n\tpushl %%ebp\n\tpushl %%ebx\n\tpushl %%esi\n\tpushl %%edi\n\t"
			 "movl %%esp, user_run_stack\n\t"
			 "pushl $0\n\tpushl $0\n\tpushl %2\n\tpushl $0\n\tpushl %3\n\t"
			 "pushl $0x800\n\tpushl %4\n\tpushl %3\n\tpushl $0\n\tiret\n"
			 "1:\tmovl %0, %%esp\n\tmovl $0, trap_resume"
			 : "+m"(saved), "=m"(user_run_stack)
			 : "i"(DATA_SEGMENT), "r"(cs), "r"(eflags | EFLAGS_VM)
			 : "eax", "ecx", "edx", "memory", "cc");
}

static void attack_vm86(const uint32_t *arguments)
{
	uint32_t *table = (uint32_t *)(page_directory[0] & ~(PAGE_SIZE - 1));
	uint32_t cs = arguments[1];

	*(volatile uint32_t *)(cs * 16) = arguments[0];
	table[CODE_PAGE] |= PAGE_U;
	invlpg(CODE_PAGE * PAGE_SIZE);
	/* So that the code does not begin with a page fault. */
	(void)*(volatile uint32_t *)(cs * 16);
	vectors_show();
	mode_enter(cs, arguments[2]);
	print("trap %u, error 0x%x, eflags 0x%x\n", trap.vector, trap.error, eflags_read());
}

const struct attack attacks_vm86[] = { { "vm86", attack_vm86 }, { 0 } };
